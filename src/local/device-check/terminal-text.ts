/** Control and format characters, which steer a terminal or turn a line around. */
const steering = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** Text of unknown origin as one line for a terminal, which it cannot steer. */
export function terminalText(text: string): string {
  return text.replace(steering, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}
