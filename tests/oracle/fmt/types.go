package main

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
)

// The types that the questions speak of by name; tests/gotmpl/printing.py has their twins.

type Count int

type Level uint8

func (l Level) String() string { return "level " + strconv.Itoa(int(l)) }

type Words []string

func (w Words) String() string { return "words:" + strings.Join(w, ",") }

type Coded []string

func (c Coded) String() string { return strings.Join(c, "|") }

func (c Coded) MarshalJSON() ([]byte, error) {
	if len(c) == 1 {
		return json.Marshal(c[0])
	}
	return json.Marshal([]string(c))
}

type Table map[string]any

func (t Table) String() string {
	if t == nil {
		return "{}"
	}
	text, _ := json.Marshal(t)
	return string(text)
}

type Image []byte

type Point struct {
	X      int
	Y      float64 `json:"y,omitempty"`
	Name   string  `json:"name"`
	hidden Level
}

type Secret struct {
	text  Words
	Shown Words
	inner any
	Fault Fault
}

type Boxed struct {
	Value string `json:"value"`
}

func (b *Boxed) String() string {
	if b == nil {
		return "no box"
	}
	return "[" + b.Value + "]"
}

type Fault struct {
	Code int
}

func (f Fault) Error() string { return "fault " + strconv.Itoa(f.Code) }

type Boom struct {
	Text string
}

func (b Boom) String() string { panic(b.Text) }

type Node struct {
	Kind  string           `json:"kind"`
	Next  *Node            `json:"next,omitempty"`
	Items any              `json:"items,omitempty"`
	Tags  []string         `json:"tags,omitempty"`
	Words Words            `json:"words,omitempty"`
	Coded Coded            `json:"coded,omitempty"`
	Props map[string]Point `json:"<props>"`
	Data  []byte           `json:"data,omitempty"`
	Flag  bool             `json:"flag,omitempty"`
	Ratio float64          `json:"ratio,omitempty"`
	Skip  int              `json:"-"`
	Level Level            `json:",omitempty"`
	Box   Boxed            `json:"box,omitempty"`
	Count *int             `json:"count"`
}

var named = map[string]reflect.Type{}

func register[T any]() {
	known := reflect.TypeFor[T]()
	named[known.String()] = known
	named["*"+known.String()] = reflect.PointerTo(known)
	named["[]"+known.String()] = reflect.SliceOf(known)
	named["map[string]"+known.String()] = reflect.MapOf(reflect.TypeFor[string](), known)
	named["[]*"+known.String()] = reflect.SliceOf(reflect.PointerTo(known))
}

func init() {
	register[Count]()
	register[Level]()
	register[Words]()
	register[Coded]()
	register[Table]()
	register[Image]()
	register[Point]()
	register[Secret]()
	register[Boxed]()
	register[Fault]()
	register[Boom]()
	register[Node]()
	register[string]()
	register[int]()
	register[bool]()
	register[float64]()
	register[complex128]()
	register[int8]()
	register[int16]()
	register[int32]()
	register[int64]()
	register[uint]()
	register[uint8]()
	register[uint16]()
	register[uint32]()
	register[uint64]()
	register[uintptr]()
	register[any]()
	register[map[string]any]()
	register[[]any]()
	register[[]string]()
	register[[]uint8]()
	register[*Point]()
	register[map[int]string]()
	register[map[Level]int]()
	register[map[bool]int]()
	register[map[float64]int]()
	register[map[Count]int]()
	register[map[any]int]()
	register[func()]()
}
