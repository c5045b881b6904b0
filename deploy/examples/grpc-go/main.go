// Makes a video over gRPC, watches it to its end, and saves it as boat.mp4.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	billing "reelgate.example/video/gen/reelgate/billing/v1"
	tasks "reelgate.example/video/gen/reelgate/tasks/v1"
)

const (
	callTimeout   = 20 * time.Second
	streamTimeout = 5 * time.Minute
	retryMin      = time.Second
	retryMax      = 30 * time.Second
	triesMax      = 20
)

func main() {
	account := env("REELGATE_ACCOUNT", "demo")
	// Each call has a deadline, and the whole has none: the service ends each task, at the latest when its operator
	// decides.
	ctx := context.Background()
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+os.Getenv("REELGATE_CALLER_KEY"))

	// A task belongs to a token of the account, whose models and limits it has.
	accounts := billing.NewAccountServiceClient(dial(env("REELGATE_BILLING", "127.0.0.1:9102")))
	tokens := call(ctx, accounts.ListTokens, &billing.ListTokensRequest{AccountId: account})
	if len(tokens.Tokens) == 0 {
		log.Fatalf("the account %s has no token", account)
	}

	service := tasks.NewTaskServiceClient(dial(env("REELGATE_TASKS", "127.0.0.1:9101")))
	seconds, resolution, ratio := int32(4), "768P", "16:9"
	created := call(ctx, service.CreateTask, &tasks.CreateTaskRequest{
		AccountId: account,
		TokenId:   tokens.Tokens[0].Id,
		// With a key, a create whose answer was lost is sent again and makes no second video.
		IdempotencyKey: fmt.Sprintf("boat-%d", time.Now().UnixNano()),
		Order: &tasks.Order{
			Kind:       tasks.TaskKind_TASK_KIND_GENERATION,
			Model:      "Alpha-H3",
			Content:    []*tasks.ContentItem{{Item: &tasks.ContentItem_Text{Text: "a red boat at dawn"}}},
			Duration:   &seconds,
			Resolution: &resolution,
			Ratio:      &ratio,
		},
	})

	task := watch(ctx, service, created.Task)
	if task.State == tasks.TaskState_TASK_STATE_FAILED {
		log.Fatalf("%s failed: %s", task.Id, task.Failure.GetMessage())
	}
	check(save(ctx, service, task, "boat.mp4"))
	fmt.Printf("%s is completed: %d x %d, %d bytes in boat.mp4\n",
		task.Id, task.Result.Width, task.Result.Height, task.Result.Bytes)
}

// call returns the answer. A call that fails with a fault that passes is tried again.
func call[Request, Response any](
	ctx context.Context,
	method func(context.Context, *Request, ...grpc.CallOption) (*Response, error),
	request *Request,
) *Response {
	for try := 1; ; try++ {
		bounded, done := context.WithTimeout(ctx, callTimeout)
		response, err := method(bounded, request)
		done()
		if err == nil {
			return response
		}
		// After a lost answer, a key is refused while its first create still runs.
		isRunning := try > 1 && status.Code(err) == codes.FailedPrecondition
		if !(isRunning || passes(err)) || try == triesMax {
			log.Fatal(err)
		}
		time.Sleep(min(time.Duration(try)*time.Second, 5*time.Second))
	}
}

func passes(err error) bool {
	code := status.Code(err)
	return code == codes.Unavailable || code == codes.DeadlineExceeded
}

// watch returns the task when it has ended. A stream that breaks or reaches its deadline is resumed where it was.
func watch(ctx context.Context, service tasks.TaskServiceClient, task *tasks.Task) *tasks.Task {
	cursor, wait := "", retryMin
	for {
		bounded, done := context.WithTimeout(ctx, streamTimeout)
		stream, err := service.WatchTask(bounded, &tasks.WatchTaskRequest{
			AccountId: task.AccountId, TaskId: task.Id, Cursor: cursor,
		})
		for err == nil {
			var change *tasks.WatchTaskResponse
			if change, err = stream.Recv(); err != nil {
				break
			}
			cursor, wait = change.Cursor, retryMin
			if change.Task != nil { // A message without a task is a heartbeat.
				task = change.Task
				fmt.Printf("%s %d %%\n", task.State, task.Progress)
			}
		}
		done()
		if errors.Is(err, io.EOF) {
			return task
		}
		if !passes(err) {
			log.Fatal(err)
		}
		time.Sleep(wait)
		wait = min(2*wait, retryMax)
	}
}

func save(ctx context.Context, service tasks.TaskServiceClient, task *tasks.Task, name string) error {
	bounded, done := context.WithTimeout(ctx, streamTimeout)
	defer done()
	stream, err := service.GetTaskContent(bounded, &tasks.GetTaskContentRequest{AccountId: task.AccountId, TaskId: task.Id})
	if err != nil {
		return err
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer file.Close()
	for {
		piece, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return file.Close()
		}
		if err != nil {
			return err
		}
		if _, err := file.Write(piece.GetData()); err != nil {
			return err
		}
	}
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
