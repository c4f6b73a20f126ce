// SPDX-License-Identifier: MIT
// text.unicode: general categories L* and N* and White_Space; any CPU; exact for the Unicode version named below.
// applies: any
#include "text_unicode.h"
#include <algorithm>
#include <vector>

namespace {
// Lengths of alternating runs outside and inside the class, from U+0000 on. Written by generate-tables.ts.
// begin generated
// Unicode 17.0
constexpr std::string_view letter_runs =
    "%izfz$sajadaewa$ca3jdlnegaaa'qeabbdaafaacaaata%{a'{h(za$jbaf$m%o{dd$q$o$gba&oaaobgbjcbapaa$b$a&ekax$eibdaevdaiacawygkexagp$n%b$zcaragjopdhbbbvagaacdcapambacnbjahfdbbvagababab$cdaascpiacavagabaecaraobwakhbbbvagabaeca$bbacoaqaafccadcbaaabcbccclva$xhacawapcazcabbb$badhacawajaeca$bcabobqiaca$mbapaechcxfercxaiaabg%b$tablg%bbaaaeaxaaajabiabeaaud$da%gha$h{e'c$otapfddcacbgcdmlaq$jaaeab$oa.yadbgaaadb$madb$eadbgaaadboa%aadb%k$ipp&bbfc9dbqaze%sfhgrmsnrnmaco$x$gada%k&egeb$faae%nj$c$u$bbek$pdz$zwi$y%za&i$sqh$z$bmbj$pz$h$mcj$hbke$obc$mdafabcae)x%h,zbfb$jbfbhaaaaaaa$cb$yagaaccagcdbfdmecag'damapm&qadabjaacefaaaaaadakbdeeda$xb&.w+efdcbl$jaaeab%`gapwigagagagagagagag%xa3ub$neebd&bfca&fade$oa&jq$d$tp5h+.l%h$#*i%k$rb,qcpjbt$sp$cb%n$uib&sb%ztqacadaw$a$xn$v%ffcaabk$`jwy$ag$s$`apeajjea$mwcahtwcac$vaacbbebaaaxcbkgclfbfbfigaga$oanf'c$a1*`lwd$u-8x0bb&v$jgleeaajamaeaaababa&x$e/{r%hb$z$ll'dea'w$hzfzk&ecfbfbfbc$glazasabaobn$f'k0y$ac$u$s$dmtahf$jj$bb$hdh$t(rr$hd$hd$lh$xlkaoagabakaoagabc$xl.civjhxfa$nai%mfbaa$pabcabwjwi$c%isabjvjzfz$j%`fb%haodaca$a$n$ac$a$gha$`{$zjvjsmr&z%q${$wm$wm$h$j$`iw+z$nfbpf%`$ajahv$nr$ru{wl$y%abbam$q$dyz$h$aabah$gcal$tnduaaa$graysb%ggaaadaoajg$s$jhbbbvagabaecarale$bjaabaa$jaayaaa$p$yrdtc$b$ttbaa)p$s$md$h$tta%c$oma%o{$ig)q$p'd%h$chbabhabaxoaaa&jhb$kpaaa$`aj$lgauak$rsar%q*c$e$cia$iqa$u$b'`gaba$juayfaba$dnaw$p,hsoaama$f'la%w$'z+f*`&-d&mo$-hqfy(%se7w+7i$b%)z7ig$cq%wq$br$tpd$cues2l$q*o%h$dyby$p%sea%jm%hbaanbl,.r$m$d&m'c.%udagaba-koa$acbandh1d%=l&wemcigj*4z&aa%oabbabbbdalaaaga%iadbhaga$`adaeaacga/dbyaya$caya$caya$caya$cayah%,x$cff,i%f(f$qjgpa.m$br$p4h$`+d$bba*k$cacabagbeib+`gadabaoa*a%c%lga$2`da{abaabaajadaaaafadaaaaaacabaabaaaaaaaaaabaabdagadadaaajaqecaeaq(4x$=0t$d(3nb*-fb,1yo9f&'b6j$<v)+ke-:f";
constexpr std::string_view number_runs =
    "$tj'hbeabc$:mj'vj*bj1tj'fjdf&xj'fj'fjbf&zm'cjhg&sj&tggs&yj&lj'fj%nt,pj%nj<st$&mc+ojfjvj-tj'pk(yjfj)nj&bj'vjfj$,jacffj*b$wbe<z%d%vv9n$b$8ma>uayinc/gd'zj$bhao$dj$ko$,5xj)tj.lf(nj$jj*bjvj&bj1nj>&rj4q$ql%aqb/e{$hd$aaha've*fj$(rhyg$ki%sevf(tbbpb$r%hi$xb$bc%se&thxh$mg.vf$tjfj,z$c(rj$nd'`g'v$b'pj%dj(djgt+{j/fj'fj0jj&rjft%tl2`s&ij:rj&b$a+cj%nj$zj/vj&ru$-c&{6:mj%>rj&bj'vjag5vj,jw/mc$%-aj$;vtlt&xy$.q$v&#pj2bj4zj+wj<pi'pj$#g%cacad%t$qao$)jm&2oj";
constexpr std::string_view space_runs =
    "iera&paza*&{a&%wk$abea$sa(%xa";
// end generated

struct CharacterClass {
  std::vector<char32_t> boundaries;  // the code points at which membership changes, ascending
  explicit CharacterClass(std::string_view runs) {
    for (char32_t boundary = 0; !runs.empty(); boundaries.push_back(boundary)) boundary += take_number(runs);
  }
  bool contains(char32_t code_point) const {
    return (std::ranges::upper_bound(boundaries, code_point) - boundaries.begin()) % 2 == 1;
  }
};
const CharacterClass letters(letter_runs), numbers(number_runs), spaces(space_runs);
}  // namespace

uint32_t take_number(std::string_view& digits) {
  uint32_t value = 0;
  for (bool is_last = false; !is_last; digits.remove_prefix(1)) {
    is_last = digits[0] >= '`';
    value = value * 28 + uint32_t(digits[0] - (is_last ? '`' : '#'));
  }
  return value;
}

bool is_letter(char32_t code_point) { return letters.contains(code_point); }
bool is_number(char32_t code_point) { return numbers.contains(code_point); }
bool is_space(char32_t code_point) { return spaces.contains(code_point); }
