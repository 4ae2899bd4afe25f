// SPDX-License-Identifier: Apache-2.0

// A benchmark after which none can run.
package panics

import "testing"

func BenchmarkFirst(b *testing.B) {}

func BenchmarkPanics(b *testing.B) { panic("oh") }

func BenchmarkNever(b *testing.B) {}
