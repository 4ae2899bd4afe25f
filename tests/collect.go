// A program whose garbage collector runs on stacks of its own: for ROUNDS rounds, a number.
package main

var kept []*[]*int

func main() {
	for i := 0; i < ROUNDS; i++ {
		s := make([]*int, 50)
		for k := range s {
			s[k] = new(int)
		}
		kept = append(kept[:i%1000], &s)
	}
}
