import { expect } from 'chai';
import { resolveNames } from '../services/common/extraction/rules/coreference.ts';
import type { Mention } from '../services/common/extraction/rules/mention.ts';
import { dates } from '../services/common/language/dates.ts';
import { fold } from '../services/common/language/fold.ts';
import { names } from '../services/common/language/names.ts';
import { analyseQuery } from '../services/common/language/query.ts';
import { relativeDates } from '../services/common/language/relative-dates.ts';
import { sentences } from '../services/common/language/sentences.ts';
import { estimateTokens } from '../services/common/language/token-count.ts';
import { contentStems, tokenize, tokenizeQuery } from '../services/common/language/tokenize.ts';
import { between, growthBeyond, numbered, type Pump, repeated } from './support/growth.ts';

const NOW = new Date('2026-11-23T10:00:00Z');

/** Work over a text of any length. */
const WORK: Readonly<Record<string, (text: string) => unknown>> = {
  sentences,
  names,
  tokenize,
  tokenizeQuery,
  contentStems,
  fold,
  estimateTokens,
  dates: (text) => dates(text),
  'dates with an anchor': (text) => dates(text, NOW),
  relativeDates: (text) => relativeDates(text, NOW),
  analyseQuery: (text) => analyseQuery(text, { now: NOW }),
  resolveNames: (text) => resolveNames(parts(text).map(mentionOf), []),
  'resolveNames among known names': (text) =>
    resolveNames(
      parts(text).slice(0, 100).map(mentionOf),
      parts(text).map((name) => ({ name, type: 'Person' })),
    ),
};

const PUMPS: readonly Pump[] = [
  ...[
    ...[
      '- ',
      '* ',
      '1. ',
      '.',
      '. ',
      '!',
      '?',
      '…',
      '。',
      ' ',
      '\n',
      '\n\n',
      ' \n',
      '\t',
      'a',
      'A',
      'é',
      '\u0301',
      '字',
    ],
    ...[
      '0',
      '1,',
      '1990 ',
      '1990 to ',
      'May 5 ',
      'today ',
      '"',
      '" ',
      '“',
      '”',
      '(',
      ')',
      '[',
      ']',
      '()',
      '(a) ',
      '<',
      '>',
    ],
    ...[
      '<!--',
      '<a ',
      '&',
      '`',
      '```\n',
      '_',
      '*',
      '**',
      '# ',
      '## a\n\n',
      '> ',
      '|',
      '| a ',
      '|-',
      '---\n',
      'a\n===\n',
      '\\',
    ],
    ...[
      'http://a.b ',
      'a@',
      '-',
      'a-',
      'a_b',
      'aB',
      'ABC ',
      'Ada ',
      'Ada met Bob. ',
      'he ',
      'University of ',
      "'",
      "Ada's ",
    ],
    ...[
      ',',
      'a, ',
      ':',
      'a: b\n',
      'key=',
      'token: ',
      '=',
      '{"a":',
      '[1,',
      'Ada lives in Berlin.\n',
      'Ada has moved to Rome.\n',
    ],
    ...['themes ', 'in 3 days ', 'ﬁ', '가', '😀'],
  ].map(repeated),
  ...['.', '!', '?', '…', ' ', '\n', '\t', '-', '_', '"', '(', ')', "'", 'a', '0', '=', '|', '#'].map((unit) =>
    between('Contents ', unit, 'x'),
  ),
  ...[
    'Ada X# met Ada Y#. ',
    'Ada X#\n',
    'X# Ada\n',
    '# Ltd Inc\n',
    'Ada lives in B#.\nAda has moved to C#.\n',
    '# ',
    '#\n',
    '"Title #" ',
  ].map(numbered),
];

describe('The time that texts take', () => {
  for (const [name, work] of Object.entries(WORK)) {
    it(`grows no faster than n·log n in ${name}, whatever is repeated in the text`, () => {
      expect(PUMPS.flatMap((pump) => growthBeyond(work, pump) ?? [])).to.deep.equal([]);
    });
  }
});

function parts(text: string): string[] {
  return text.split(/\n|(?<=\.) /u);
}

function mentionOf(name: string): Mention {
  const place = { start: 0, end: 0, isThing: false, isWord: false, isNested: false };
  return { surface: name, name, title: null, kind: 'name', ...place };
}
