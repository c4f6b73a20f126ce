// SPDX-License-Identifier: MIT
// text.unicode: the three character classes that pre-tokenizer patterns are made of, and the packing of Unicode tables.
#pragma once
#include <cstdint>
#include <string_view>

bool is_letter(char32_t code_point);  // general category L*
bool is_number(char32_t code_point);  // general category N* (Nd, Nl, No)
bool is_space(char32_t code_point);   // property White_Space
// Removes the first number from a generated table: base 28, digits '#'..'>' go on, a digit '`'..'{' ends it.
uint32_t take_number(std::string_view& digits);
