const NAME = /(?:export[ \t]+)?[A-Za-z_][\w.-]*[ \t]*=[ \t]*/.source;
const COMMENT = /#[^\n]*/.source;
const QUOTED = /(?:"[^"]*"|'[^']*'|`[^`]*`)/.source;
/** An entry, whose quoted value may go over several lines; a comment; or nothing. */
const ENTRY = new RegExp(
  `[ \\t]*(?:${COMMENT}|${NAME}${QUOTED}[ \\t]*(?:${COMMENT})?|${NAME}(?!["'\`])[^\\n]*)?[ \\t]*\\r?(?:\\n|$)`,
  'y',
);

/** Numbers of the lines of a `.env` text that are neither `NAME=value` nor a comment, the first line being 1. */
export function malformedLines(text: string): readonly number[] {
  const malformed: number[] = [];
  let line = 1;
  let position = 0;
  while (position < text.length) {
    ENTRY.lastIndex = position;
    let length = ENTRY.exec(text)?.[0].length ?? 0;
    if (length === 0) {
      malformed.push(line);
      const end = text.indexOf('\n', position);
      length = (end < 0 ? text.length : end + 1) - position;
    }
    line += text.slice(position, position + length).split('\n').length - 1;
    position += length;
  }
  return malformed;
}

/** Text that `util.parseEnv` reads as written: it takes the next line for the value of `NAME= ` with a space at the end. */
export function withoutBlankValues(text: string): string {
  return text.replace(/^\uFEFF/, '').replaceAll(/=[ \t]+(?=\r?$)/gm, '=');
}
