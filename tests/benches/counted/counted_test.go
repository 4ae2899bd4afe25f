// SPDX-License-Identifier: Apache-2.0

//go:build arm64

package counted

import "testing"

// An iteration has 2,000,000 instructions and few more.
func BenchmarkTurns(b *testing.B) {
	for i := 0; i < b.N; i++ {
		turns(1000000)
	}
}

// So has the iteration of a sub-benchmark; its preparation has ten times as many.
func BenchmarkPrepared(b *testing.B) {
	b.Run("n=1", func(b *testing.B) {
		turns(10000000)
		b.ResetTimer()
		for i := 0; i < b.N; i++ {
			turns(1000000)
		}
	})
}
