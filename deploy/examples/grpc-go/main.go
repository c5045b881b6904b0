// Makes a video over gRPC and follows it until it has ended.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	billing "reelgate.example/video/gen/reelgate/billing/v1"
	tasks "reelgate.example/video/gen/reelgate/tasks/v1"
)

func main() {
	account := env("REELGATE_ACCOUNT", "demo")
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+os.Getenv("REELGATE_CALLER_KEY"))

	// A task belongs to a token of the account, whose models and limits it has.
	accounts := billing.NewAccountServiceClient(dial(env("REELGATE_BILLING", "127.0.0.1:9102")))
	tokens, err := accounts.ListTokens(ctx, &billing.ListTokensRequest{AccountId: account})
	check(err)

	service := tasks.NewTaskServiceClient(dial(env("REELGATE_TASKS", "127.0.0.1:9101")))
	seconds, resolution, ratio := int32(4), "768P", "16:9"
	created, err := service.CreateTask(ctx, &tasks.CreateTaskRequest{
		AccountId: account,
		TokenId:   tokens.Tokens[0].Id,
		Order: &tasks.Order{
			Kind:       tasks.TaskKind_TASK_KIND_GENERATION,
			Model:      "Alpha-H3",
			Content:    []*tasks.ContentItem{{Item: &tasks.ContentItem_Text{Text: "a red boat at dawn"}}},
			Duration:   &seconds,
			Resolution: &resolution,
			Ratio:      &ratio,
		},
	})
	check(err)

	task := created.Task
	for task.State != tasks.TaskState_TASK_STATE_COMPLETED {
		if task.State == tasks.TaskState_TASK_STATE_FAILED {
			log.Fatalf("%s failed: %s", task.Id, task.Failure.GetMessage())
		}
		time.Sleep(time.Duration(max(task.PollAfterMs, 500)) * time.Millisecond)
		read, err := service.GetTask(ctx, &tasks.GetTaskRequest{AccountId: account, TaskId: task.Id})
		check(err)
		task = read.Task
	}
	fmt.Printf("%s is completed: %d x %d, %d bytes\n", task.Id, task.Result.Width, task.Result.Height, task.Result.Bytes)
}

func dial(address string) *grpc.ClientConn {
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	check(err)
	return connection
}

func env(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
