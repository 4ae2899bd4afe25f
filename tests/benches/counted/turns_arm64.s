// SPDX-License-Identifier: Apache-2.0

#include "textflag.h"

TEXT ·turns(SB), NOSPLIT, $0-8
	MOVD n+0(FP), R0
again:
	SUBS $1, R0, R0
	BNE again
	RET
