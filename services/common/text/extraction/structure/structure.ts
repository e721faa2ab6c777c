import { isGeneratedName } from '../../../domain/index-rows.ts';
import type { ExtractionInput, TextPart } from '../../../ports/extractor.ts';
import { isCommonWord } from '../../language/common-words.ts';
import { readCode } from './code.ts';
import type { Fact, Reading } from './fact.ts';
import { readKeyValues, readRecords } from './records.ts';
import { readTable } from './tables.ts';

interface Structure {
  /** The text with everything that is no prose replaced by line breaks: offsets stay. */
  readonly prose: string;
  readonly facts: readonly Fact[];
}

/** Separates what the structure of a text states from its prose. */
export function readStructure(input: ExtractionInput): Structure {
  const facts: Fact[] = [];
  let prose = '';
  let at = 0;
  for (const part of input.parts ?? []) {
    const text = input.text.slice(part.start, part.end);
    const reading = readPart(text, part, input);
    for (const fact of reading.facts) facts.push(fact);
    for (const { start, end } of reading.skipped) {
      if (end <= start) continue;
      prose += input.text.slice(at, part.start + start) + '\n'.repeat(end - start);
      at = part.start + end;
    }
  }
  prose += input.text.slice(at);
  return { prose: prose.includes('```') || prose.includes('~~~') ? withoutFences(prose) : prose, facts };
}

function readPart(text: string, part: TextPart, input: ExtractionInput): Reading {
  const whole = [{ start: 0, end: text.length }];
  switch (part.kind) {
    case 'heading':
      return { facts: [], skipped: whole };
    case 'code': {
      const isFile = input.format === 'code' && input.fileName !== undefined;
      return { facts: isFile ? readCode(text, part.symbol, input.fileName) : [], skipped: whole };
    }
    case 'table':
      return readTable(text);
    case 'record':
      return readRecords(text, aboutOf(part, input), input.format === 'yaml');
    case 'paragraph':
    case 'list-item':
      return text.includes(':') ? readKeyValues(text, aboutOf(part, input)) : { facts: [], skipped: [] };
    default:
      return { facts: [], skipped: [] };
  }
}

/** Lines that open or close code: they stand in the text of the block before. */
function withoutFences(text: string): string {
  return text.replace(/^[ \t>]*(?:`{3,}|~{3,})[^\n]*$/gmu, (line) => '\n'.repeat(line.length));
}

/** The innermost heading that names something (`Sarah Lee`, not `Contact`), else the title or the name of the document. */
function aboutOf({ headings }: TextPart, input: ExtractionInput): string | null {
  const names = [...(headings ?? input.headings)].reverse();
  const own = names.find((name) => name.split(' ').some((word) => !isCommonWord(word.toLowerCase())));
  const name = own ?? input.title ?? input.documentName;
  return isGeneratedName(name) ? null : name;
}
