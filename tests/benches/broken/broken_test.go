// SPDX-License-Identifier: Apache-2.0

// Benchmarks that fail, always or alone.
package broken

import "testing"

var prepared bool

func BenchmarkFails(b *testing.B) { b.Fatal("broken") }

func BenchmarkGood(b *testing.B) { prepared = true }

func BenchmarkNeedsOther(b *testing.B) {
	if !prepared {
		b.Fatal("nobody has prepared this")
	}
}
