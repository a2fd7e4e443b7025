// Calls an echoing front with grpc-go and prints one JSON line of what it saw: main HOST:PORT.
package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

const (
	add        = "/memory.v1.MemoryService/Add"
	unknown    = "/memory.v1.MemoryService/Dance"
	watch      = "/grpc.health.v1.Health/Watch"
	reflection = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
)

// raw passes messages as bytes.
type raw struct{}

func (raw) Name() string                       { return "proto" }
func (raw) Marshal(v any) ([]byte, error)      { return *v.(*[]byte), nil }
func (raw) Unmarshal(data []byte, v any) error { *v.(*[]byte) = append([]byte{}, data...); return nil }
func text(s string) []byte                     { return []byte(s) }
func within(d time.Duration) (context.Context, func()) {
	return context.WithTimeout(context.Background(), d)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// call makes a unary call; a failed one has no answer.
func call(conn *grpc.ClientConn, path string, message []byte, limit time.Duration, options ...grpc.CallOption) ([]byte, error) {
	ctx, done := within(limit)
	defer done()
	ctx = metadata.AppendToOutgoingContext(ctx, "x-request-id", "mine")
	var answer []byte
	err := conn.Invoke(ctx, path, &message, &answer, options...)
	return answer, err
}

func code(err error) int { return int(status.Code(err)) }

func main() {
	conn, err := grpc.NewClient("passthrough:///"+os.Args[1],
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(raw{}), grpc.MaxCallRecvMsgSize(1<<30)))
	must(err)
	defer conn.Close()
	const minute = time.Minute
	seen := map[string]any{}

	answer, err := call(conn, add, text("hello"), minute)
	must(err)
	seen["echo"] = string(answer)
	large := bytes.Repeat(text("0123456789abcdef"), 320_000)
	answer, err = call(conn, add, large, minute)
	must(err)
	seen["large"] = bytes.Equal(answer, large)
	zs := bytes.Repeat(text("z"), 100_000)
	answer, err = call(conn, add, zs, minute, grpc.UseCompressor("gzip"))
	must(err)
	seen["gzip"] = bytes.Equal(answer, zs)
	var trailers metadata.MD
	_, err = call(conn, add, text("trailers"), minute, grpc.Trailer(&trailers))
	must(err)
	seen["trailers"] = trailers.Get("x-request-id")[0]
	_, err = call(conn, add, text("refuse"), minute, grpc.Trailer(&trailers))
	seen["refused"] = []any{code(err), status.Convert(err).Message(), trailers.Get("x-error-code")[0]}
	_, err = call(conn, add, text("never"), 300*time.Millisecond)
	seen["late"] = code(err)
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	never := text("never")
	seen["cancelled"] = code(conn.Invoke(ctx, add, &never, &answer)) == 1
	seen["many"] = many(conn)
	seen["watch"] = watched(conn)
	seen["reflection"] = reflected(conn)
	_, err = call(conn, unknown, nil, minute)
	seen["unknown"] = code(err)
	must(json.NewEncoder(os.Stdout).Encode(seen))
}

func many(conn *grpc.ClientConn) bool {
	var group sync.WaitGroup
	same := make([]bool, 400)
	for at := range same {
		group.Go(func() {
			message := bytes.Repeat(text(strconv.Itoa(at)), at%50+1)
			answer, err := call(conn, add, message, time.Minute)
			same[at] = err == nil && bytes.Equal(answer, message)
		})
	}
	group.Wait()
	for _, one := range same {
		if !one {
			return false
		}
	}
	return true
}

func watched(conn *grpc.ClientConn) string {
	ctx, done := within(time.Minute)
	defer done()
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, watch)
	must(err)
	var question, answer []byte
	must(stream.SendMsg(&question))
	must(stream.CloseSend())
	must(stream.RecvMsg(&answer))
	return hex.EncodeToString(answer)
}

func reflected(conn *grpc.ClientConn) []bool {
	ctx, done := within(time.Minute)
	defer done()
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, reflection)
	must(err)
	question := []byte{58, 1, 42}
	for range 3 {
		must(stream.SendMsg(&question))
	}
	must(stream.CloseSend())
	found := []bool{}
	for {
		var answer []byte
		err := stream.RecvMsg(&answer)
		if err == io.EOF {
			return found
		}
		must(err)
		found = append(found, bytes.Contains(answer, text("memory.v1.MemoryService")))
	}
}
