/**
 * Finds where and why a text is not JSON, in the words of the contract's `json_invalid` error. The engine's own parser accepts
 * or refuses; this one runs only on refused texts, because the engine names neither place nor cause reliably.
 */
export interface JsonFault {
  readonly offset: number;
  readonly reason: string;
}

export function findJsonFault(text: string): JsonFault {
  const scanner = new Scanner(text);
  try {
    scanner.document();
  } catch (error) {
    if (error instanceof FaultSignal) return error.fault;
    throw error;
  }
  // Refused by the engine alone.
  return { offset: 0, reason: 'Expecting value' };
}

class FaultSignal extends Error {
  readonly fault: JsonFault;
  constructor(fault: JsonFault) {
    super(fault.reason);
    this.fault = fault;
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
const PLAIN = /[ !#-[\]-\uffff]*/y;
const ESCAPE = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y;

class Scanner {
  private readonly text: string;
  private at = 0;

  constructor(text: string) {
    this.text = text;
  }

  document(): void {
    this.blanks();
    // An own stack: input nested a million deep must not exhaust the call stack.
    const open: ('{' | '[')[] = [];
    for (let isValueDue = true; ; ) {
      if (isValueDue) {
        const opened = this.value();
        if (opened !== null) open.push(opened);
        isValueDue = opened !== null;
        if (isValueDue) continue;
      }
      const container = open.at(-1);
      this.blanks();
      if (container === undefined) break;
      if (this.take(container === '{' ? '}' : ']')) {
        open.pop();
        continue;
      }
      if (!this.take(',')) this.fail("Expecting ',' delimiter");
      if (container === '{') this.property();
      isValueDue = true;
    }
    if (this.at < this.text.length) this.fail('Extra data');
  }

  /** Reads one value; answers the bracket when it opened a container that is not empty. */
  private value(): '{' | '[' | null {
    this.blanks();
    if (this.take('{')) {
      this.blanks();
      if (this.take('}')) return null;
      this.property();
      return '{';
    }
    if (this.take('[')) {
      this.blanks();
      return this.take(']') ? null : '[';
    }
    if (this.text[this.at] === '"') this.string();
    else if (!this.skip(WORD) && !this.skip(NUMBER)) this.fail('Expecting value');
    return null;
  }

  private property(): void {
    this.blanks();
    if (this.text[this.at] !== '"') this.fail('Expecting property name enclosed in double quotes');
    this.string();
    this.blanks();
    if (!this.take(':')) this.fail("Expecting ':' delimiter");
  }

  private string(): void {
    const start = this.at;
    this.at += 1;
    for (;;) {
      this.skip(PLAIN);
      const next = this.text[this.at];
      if (next === undefined) this.fail('Unterminated string starting at', start);
      if (this.take('"')) return;
      if (next !== '\\') this.fail('Invalid control character at');
      this.at += 1;
      if (!this.skip(ESCAPE))
        this.fail(this.text[this.at] === 'u' ? 'Invalid \\uXXXX escape' : 'Invalid \\escape', this.at - 1);
    }
  }

  private blanks(): void {
    while (' \t\n\r'.includes(this.text[this.at] ?? 'x')) this.at += 1;
  }

  private take(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  private skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    if (!pattern.test(this.text)) return false;
    this.at = pattern.lastIndex;
    return true;
  }

  private fail(reason: string, offset = this.at): never {
    throw new FaultSignal({ offset, reason });
  }
}
