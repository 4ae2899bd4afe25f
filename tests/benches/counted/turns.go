// SPDX-License-Identifier: Apache-2.0

//go:build arm64

// Package counted has work of a known number of instructions.
package counted

// turns executes 2n instructions and few more.
func turns(n int64)
