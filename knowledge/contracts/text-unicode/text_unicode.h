// SPDX-License-Identifier: MIT
// text.unicode: the three character classes that pre-tokenizer patterns are made of.
#pragma once

bool is_letter(char32_t code_point);  // general category L*
bool is_number(char32_t code_point);  // general category N* (Nd, Nl, No)
bool is_space(char32_t code_point);   // property White_Space
