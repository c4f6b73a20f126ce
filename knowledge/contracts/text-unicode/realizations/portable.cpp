// SPDX-License-Identifier: MIT
// text.unicode: general categories L* and N* and White_Space; any CPU; exact for the Unicode version named below.
// applies: any
#include "text_unicode.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace {

// Lengths of alternating runs outside and inside the class, from U+0000 on, as base-28 numbers: digits '#'..'>' go on,
// a digit '`'..'{' ends the number. Written by generate-tables.ts.
// begin generated
// Unicode 17.0
constexpr std::string_view letter_runs =
  "%izfz$sajadaewa$ca3jdlnegaaa'qeabbdaafaacaaata%{a'{h(za$jbaf$m%o{dd$q$o$gba&oaaobgbjcbapaa$b$a&ekax$eibdaevdaiacawyg"
  "kexagp$n%b$zcaragjopdhbbbvagaacdcapambacnbjahfdbbvagababab$cdaascpiacavagabaecaraobwakhbbbvagabaeca$bbacoaqaafccadcb"
  "aaabcbccclva$xhacawapcazcabbb$badhacawajaeca$bcabobqiaca$mbapaechcxfercxaiaabg%b$tablg%bbaaaeaxaaajabiabeaaud$da%gha"
  "$h{e'c$otapfddcacbgcdmlaq$jaaeab$oa.yadbgaaadb$madb$eadbgaaadboa%aadb%k$ipp&bbfc9dbqaze%sfhgrmsnrnmaco$x$gada%k&egeb"
  "$faae%nj$c$u$bbek$pdz$zwi$y%za&i$sqh$z$bmbj$pz$h$mcj$hbke$obc$mdafabcae)x%h,zbfb$jbfbhaaaaaaa$cb$yagaaccagcdbfdmecag"
  "'damapm&qadabjaacefaaaaaadakbdeeda$xb&.w+efdcbl$jaaeab%`gapwigagagagagagagag%xa3ub$neebd&bfca&fade$oa&jq$d$tp5h+.l%h"
  "$#*i%k$rb,qcpjbt$sp$cb%n$uib&sb%ztqacadaw$a$xn$v%ffcaabk$`jwy$ag$s$`apeajjea$mwcahtwcac$vaacbbebaaaxcbkgclfbfbfigaga"
  "$oanf'c$a1*`lwd$u-8x0bb&v$jgleeaajamaeaaababa&x$e/{r%hb$z$ll'dea'w$hzfzk&ecfbfbfbc$glazasabaobn$f'k0y$ac$u$s$dmtahf$"
  "jj$bb$hdh$t(rr$hd$hd$lh$xlkaoagabakaoagabc$xl.civjhxfa$nai%mfbaa$pabcabwjwi$c%isabjvjzfz$j%`fb%haodaca$a$n$ac$a$gha$"
  "`{$zjvjsmr&z%q${$wm$wm$h$j$`iw+z$nfbpf%`$ajahv$nr$ru{wl$y%abbam$q$dyz$h$aabah$gcal$tnduaaa$graysb%ggaaadaoajg$s$jhbb"
  "bvagabaecarale$bjaabaa$jaayaaa$p$yrdtc$b$ttbaa)p$s$md$h$tta%c$oma%o{$ig)q$p'd%h$chbabhabaxoaaa&jhb$kpaaa$`aj$lgauak$"
  "rsar%q*c$e$cia$iqa$u$b'`gaba$juayfaba$dnaw$p,hsoaama$f'la%w$'z+f*`&-d&mo$-hqfy(%se7w+7i$b%)z7ig$cq%wq$br$tpd$cues2l$"
  "q*o%h$dyby$p%sea%jm%hbaanbl,.r$m$d&m'c.%udagaba-koa$acbandh1d%=l&wemcigj*4z&aa%oabbabbbdalaaaga%iadbhaga$`adaeaacga/"
  "dbyaya$caya$caya$caya$cayah%,x$cff,i%f(f$qjgpa.m$br$p4h$`+d$bba*k$cacabagbeib+`gadabaoa*a%c%lga$2`da{abaabaajadaaaaf"
  "adaaaaaacabaabaaaaaaaaaabaabdagadadaaajaqecaeaq(4x$=0t$d(3nb*-fb,1yo9f&'b6j$<v)+ke-:f";
constexpr std::string_view number_runs =
  "$tj'hbeabc$:mj'vj*bj1tj'fjdf&xj'fj'fjbf&zm'cjhg&sj&tggs&yj&lj'fj%nt,pj%nj<st$&mc+ojfjvj-tj'pk(yjfj)nj&bj'vjfj$,jacff"
  "j*b$wbe<z%d%vv9n$b$8ma>uayinc/gd'zj$bhao$dj$ko$,5xj)tj.lf(nj$jj*bjvj&bj1nj>&rj4q$ql%aqb/e{$hd$aaha've*fj$(rhyg$ki%se"
  "vf(tbbpb$r%hi$xb$bc%se&thxh$mg.vf$tjfj,z$c(rj$nd'`g'v$b'pj%dj(djgt+{j/fj'fj0jj&rjft%tl2`s&ij:rj&b$a+cj%nj$zj/vj&ru$-"
  "c&{6:mj%>rj&bj'vjag5vj,jw/mc$%-aj$;vtlt&xy$.q$v&#pj2bj4zj+wj<pi'pj$#g%cacad%t$qao$)jm&2oj";
// end generated

// The code points at which membership changes, ascending.
std::vector<char32_t> read_boundaries(std::string_view runs) {
  std::vector<char32_t> boundaries;
  char32_t boundary = 0;
  char32_t length = 0;
  for (const char digit : runs) {
    const bool is_last = digit >= '`';
    length = length * 28 + static_cast<char32_t>(digit - (is_last ? '`' : '#'));
    if (!is_last) continue;
    boundary += length;
    boundaries.push_back(boundary);
    length = 0;
  }
  return boundaries;
}

bool is_inside(const std::vector<char32_t>& boundaries, char32_t code_point) {
  return (std::upper_bound(boundaries.begin(), boundaries.end(), code_point) - boundaries.begin()) % 2 == 1;
}

}  // namespace

bool is_letter(char32_t code_point) {
  static const std::vector<char32_t> boundaries = read_boundaries(letter_runs);
  return is_inside(boundaries, code_point);
}

bool is_number(char32_t code_point) {
  static const std::vector<char32_t> boundaries = read_boundaries(number_runs);
  return is_inside(boundaries, code_point);
}

bool is_space(char32_t code_point) {
  return (code_point >= 0x09 && code_point <= 0x0D) || code_point == 0x20 || code_point == 0x85 ||
           code_point == 0xA0 || code_point == 0x1680 || (code_point >= 0x2000 && code_point <= 0x200A) ||
           code_point == 0x2028 || code_point == 0x2029 || code_point == 0x202F || code_point == 0x205F ||
           code_point == 0x3000;
}
