// Hears the events of Reelgate, verifies them as Standard Webhooks describes, and drops repeats.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	bodyBytesMax = 1 << 20
	seenMax      = 10_000
	tolerance    = 5 * time.Minute
)

type event struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Data struct {
		ID string `json:"id"`
	} `json:"data"`
}

// receiver remembers the last ids. One with several processes keeps them in its database instead.
type receiver struct {
	key   []byte
	mutex sync.Mutex
	seen  map[string]bool
	order []string
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, bodyBytesMax))
	if err == nil {
		err = verify(r.key, request.Header, body, time.Now())
	}
	var e event
	if err == nil {
		err = json.Unmarshal(body, &e)
	}
	if err != nil {
		log.Printf("refused: %v", err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if r.isNew(e.ID) {
		fmt.Println(e.Type, e.Data.ID)
	}
	w.WriteHeader(http.StatusNoContent)
}

// verify compares the signature of the id, the time and the bytes with those of the header, which may have several
// while a secret is replaced. An old time is refused, so a recorded request cannot be sent again later.
func verify(key []byte, header http.Header, body []byte, now time.Time) error {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return errors.New("the time is missing or too far away")
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
	for _, signature := range strings.Fields(header.Get("webhook-signature")) {
		given, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(signature, "v1,"))
		if err == nil && hmac.Equal(given, mac.Sum(nil)) {
			return nil
		}
	}
	return errors.New("no signature fits")
}

func (r *receiver) isNew(id string) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.seen[id] {
		return false
	}
	r.seen[id] = true
	r.order = append(r.order, id)
	if len(r.order) > seenMax {
		delete(r.seen, r.order[0])
		r.order = r.order[1:]
	}
	return true
}

func main() {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("REELGATE_WEBHOOK_SECRET"), "whsec_"))
	if err != nil {
		log.Fatal("REELGATE_WEBHOOK_SECRET must be the secret of the endpoint, such as whsec_…")
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "9000"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on port %d\n", listener.Addr().(*net.TCPAddr).Port)
	server := &http.Server{Handler: &receiver{key: key, seen: map[string]bool{}}, ReadTimeout: 10 * time.Second}
	log.Fatal(server.Serve(listener))
}
