module reelgate.example/webhooks

go 1.22
