/* SPDX-License-Identifier: Apache-2.0 */
/* What only this module uses. */
#pragma once
#include "resolved/label-sets.h"

#define refuse(why, text) (*(why) = (text), false)

/* Return the id of the pair KEY and VALUE. */
uint32_t label_sets_pair(struct label_sets *l, const char *key, const char *value);

/* Return the id of the set with COUNT pairs, up to LABEL_SET_PAIRS_MAX, whose ids are in PAIR. */
uint32_t label_sets_add(struct label_sets *l, const uint32_t *pair, uint32_t count);
