// The Go side of bench/codec: what the codecs of Kubernetes take for the same pod.
//
// usage: codec POD.json; prints one line a measurement: name, nanoseconds a call (best of several batches).
package main

import (
	"bytes"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
)

const (
	batches    = 7
	batchNanos = 60e6
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "codec:", err)
		os.Exit(1)
	}
}

func measure(name string, call func()) {
	calls := 1
	for {
		start := time.Now()
		for i := 0; i < calls; i++ {
			call()
		}
		if time.Since(start).Nanoseconds() > batchNanos/10 {
			break
		}
		calls *= 2
	}
	calls *= 10
	best := 1e18
	for b := 0; b < batches; b++ {
		start := time.Now()
		for i := 0; i < calls; i++ {
			call()
		}
		best = min(best, float64(time.Since(start).Nanoseconds())/float64(calls))
	}
	fmt.Printf("%s %.0f\n", name, best)
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	check(err)
	scheme := runtime.NewScheme()
	check(corev1.AddToScheme(scheme))
	decoder := serializer.NewCodecFactory(scheme).UniversalDeserializer()
	encoder := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{})

	object, _, err := decoder.Decode(text, nil, nil)
	check(err)
	pod := object.(*corev1.Pod)
	message, err := pod.Marshal()
	check(err)

	measure("json_decode", func() {
		_, _, err := decoder.Decode(text, nil, nil)
		check(err)
	})
	measure("proto_decode", func() {
		var p corev1.Pod
		check(p.Unmarshal(message))
	})
	var out bytes.Buffer
	measure("json_encode", func() {
		out.Reset()
		check(encoder.Encode(pod, &out))
	})
}
