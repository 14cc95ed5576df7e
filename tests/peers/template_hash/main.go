// Prints templates of pods and the hashes that kube-controller-manager v1.36.4 gives them, for tests/golden/template_hash.txt:
// a line of JSON, then a line with the hash without a collision count and with one of 3.
//
// Run within a module that requires k8s.io/kubernetes v1.36.4: go run . > tests/golden/template_hash.txt
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"reflect"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/controller"
)

var amounts = []string{"0", "1", "100m", "0.5", "1.5Gi", "1536Mi", "16000000Ki", "1e3", "12E6", "1000", "2Ti", "333n"}

// fill sets about one of `sparse` fields, and all of lists that it begins.
func fill(r *rand.Rand, v reflect.Value, sparse int) {
	switch x := v.Addr().Interface().(type) {
	case *resource.Quantity:
		*x = resource.MustParse(amounts[r.Intn(len(amounts))])
		return
	case *intstr.IntOrString:
		if *x = intstr.FromInt32(int32(r.Intn(9000))); r.Intn(2) == 0 {
			*x = intstr.FromString("port")
		}
		return
	case *metav1.Time, *metav1.FieldsV1:
		return
	case *metav1.ObjectMeta:
		x.Name, x.Labels, x.Annotations = "n", map[string]string{"b": "2", "a": "1"}, map[string]string{"x/y": "a b"}
		x.Finalizers = []string{"f/g"}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := 0; i < v.NumField(); i++ {
			if r.Intn(sparse) == 0 || v.Type().Field(i).Anonymous || v.Type().Field(i).Name == "Containers" {
				fill(r, v.Field(i), sparse)
			}
		}
	case reflect.Ptr:
		v.Set(reflect.New(v.Type().Elem()))
		fill(r, v.Elem(), sparse)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1+r.Intn(2), 2))
		for i := 0; i < v.Len(); i++ {
			fill(r, v.Index(i), sparse)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for _, key := range []string{"memory", "cpu", "x.y/z"} {
			e := reflect.New(v.Type().Elem()).Elem()
			fill(r, e, sparse)
			v.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), e)
		}
	case reflect.String:
		v.SetString([]string{"a", "b c", "Always", "ü"}[r.Intn(4)])
	case reflect.Bool:
		v.SetBool(true)
	default:
		v.SetInt(int64(r.Intn(100) - 10))
	}
}

func main() {
	fmt.Println("# kubernetes v1.36.4: a template, then its hashes without collisions and with 3. Made by tests/peers/template_hash.")
	three := int32(3)
	for seed := int64(0); seed < 60; seed++ {
		var t, again v1.PodTemplateSpec
		r := rand.New(rand.NewSource(seed))
		fill(r, reflect.ValueOf(&t).Elem(), []int{1, 2, 3, 4, 6, 9}[min(5, seed/2)])
		text, err := json.Marshal(&t)
		if err != nil {
			panic(err)
		}
		if err := json.Unmarshal(text, &t); err != nil {
			panic(err)
		}
		bytes, _ := t.Marshal() // as it comes from the API server
		if err := again.Unmarshal(bytes); err != nil {
			panic(err)
		}
		fmt.Printf("%s\n%s %s\n", text, controller.ComputeHash(&again, nil), controller.ComputeHash(&again, &three))
	}
}
