import { expect } from 'chai';
import { createDocumentEntities } from '../services/cognify/pipeline/document-entities.ts';
import { createKnownNames } from '../services/cognify/pipeline/extract-chunks.ts';
import { chunkItem } from '../services/cognify/pipeline/text-tasks.ts';
import { subjectNames } from '../services/common/domain/index-rows.ts';
import { dataItemId } from '../services/common/kernel/ids.ts';
import { slices } from '../services/common/kernel/slices.ts';
import { scrubErrorText } from '../services/common/platform/jobs/run-error.ts';
import { redactText } from '../services/common/platform/observability/redact.ts';
import type { ParsedDocument } from '../services/common/ports/documents.ts';
import { collapseNearDuplicates } from '../services/common/ranking/near-duplicates.ts';
import type { ChunkableBlock } from '../services/common/text/chunking/chunk-draft.ts';
import { relationName } from '../services/common/text/extraction/model/clean-text.ts';
import { resolveNames } from '../services/common/text/extraction/rules/coreference.ts';
import { extractByRules } from '../services/common/text/extraction/rules/extract-by-rules.ts';
import type { Mention } from '../services/common/text/extraction/rules/mention.ts';
import { resolveEntities } from '../services/common/text/extraction/rules/resolve-entities.ts';
import { createTagger } from '../services/common/text/extraction/rules/tagger.ts';
import { readStructure } from '../services/common/text/extraction/structure/structure.ts';
import { dates } from '../services/common/text/language/dates.ts';
import { fold } from '../services/common/text/language/fold.ts';
import { names } from '../services/common/text/language/names.ts';
import { relativeDates } from '../services/common/text/language/relative-dates.ts';
import { sentences } from '../services/common/text/language/sentences.ts';
import { estimateTokens } from '../services/common/text/language/token-count.ts';
import { contentStems, tokenize, tokenizeQuery } from '../services/common/text/language/tokenize.ts';
import { saysSomething, sentenceFingerprint } from '../services/common/text/repetition/fingerprint.ts';
import { newParts } from '../services/common/text/repetition/new-parts.ts';
import { isOwnAnswer, withoutEvidence } from '../services/common/text/repetition/own-answers.ts';
import { judge } from '../services/common/text/statements/judge.ts';
import { readStatements } from '../services/common/text/statements/read-text.ts';
import { type Statement, statementKey } from '../services/common/text/statements/statement.ts';
import { redacted } from '../services/improve/learning/agent-lessons.ts';
import { statementsOf as lastingStatements } from '../services/improve/learning/statements.ts';
import { beyondAcknowledgement } from '../services/improve/stages/beyond-acknowledgement.ts';
import { extractiveSummary } from '../services/improve/structure/context/extractive-summary.ts';
import { readSkill } from '../services/ingest/skills/read-skill.ts';
import { judgeEvidence } from '../services/search/answers/answerable.ts';
import { compared } from '../services/search/answers/comparison.ts';
import { comparisonQuestion } from '../services/search/answers/comparison-question.ts';
import { titleOf } from '../services/search/answers/contexts.ts';
import { documented } from '../services/search/answers/documented.ts';
import { shownExample } from '../services/search/answers/examples.ts';
import { descriptionOf } from '../services/search/answers/inner-description.ts';
import { answerInner } from '../services/search/answers/inner-question.ts';
import { countsOf, measuresOf, quantitiesIn } from '../services/search/answers/measures.ts';
import { saysOtherValue } from '../services/search/answers/other-value.ts';
import { readQuestion } from '../services/search/answers/question.ts';
import { type ReadPassage, rankSentences, sentencesOf } from '../services/search/answers/rank-sentences.ts';
import { shortAnswer } from '../services/search/answers/short-answer.ts';
import { sourceLabel } from '../services/search/answers/source-label.ts';
import { spansOf } from '../services/search/answers/spans.ts';
import { tablesOf } from '../services/search/answers/table-rows.ts';
import { tableAnswer } from '../services/search/answers/tables.ts';
import { withoutLast } from '../services/search/answers/times.ts';
import { refersBack } from '../services/search/conversation/follow-up.ts';
import { spokenFeedback } from '../services/search/conversation/spoken-feedback.ts';
import { overlapWith, wordsOf } from '../services/search/conversation/word-overlap.ts';
import { analyseQuery } from '../services/search/retrieval/query-analysis.ts';
import { asksForSkill } from '../services/search/types/skills.ts';
import { partOf } from './support/extent.ts';
import { between, growthBeyond, numbered, PUMPED_LENGTHS, type Pump, repeated } from './support/growth.ts';

const NOW = new Date('2026-11-23T10:00:00Z');

const ITEM = dataItemId('00000000-0000-4000-8000-000000000001');
const tag = createTagger();

/** Work over a text of any length. */
const WORK: Readonly<Record<string, (text: string) => unknown>> = {
  sentences,
  tokenize,
  tokenizeQuery,
  contentStems,
  fold,
  estimateTokens,
  dates: (text) => dates(text),
  'dates with an anchor': (text) => dates(text, NOW),
  relativeDates: (text) => relativeDates(text, NOW),
  analyseQuery: (text) => analyseQuery(text, { now: NOW }),
  readStatements: (text) => readStatements(text),
  'judge, for what one document states': (text) => judge(statementsOf(text, false)),
  'judge, for what many documents state': (text) => judge(statementsOf(text, true)),
  sentenceFingerprint,
  saysSomething,
  statementKey: (text) => statementKey(text, 'lives_in'),
  newParts: (text) =>
    newParts(
      text,
      sentences(text).map((sentence, at) => ({ ...sentence, isEcho: at % 2 === 0 })),
    ),
  'collapseNearDuplicates, of two': (text) =>
    collapseNearDuplicates([
      { id: 'a', text },
      { id: 'b', text: `${text}x` },
    ]),
  titleOf,
  subjectNames: (text) => subjectNames({ documentName: text, headings: [text] }, text),
  wordsOf,
  overlapWith: (text) => overlapWith(wordsOf('ada lives in x the'), [text]),
  refersBack,
  spokenFeedback,
  asksForSkill,
  readSkill: (text) => readSkill('x', `---\ndescription: ${text}\n---\nDo it.`),
  beyondAcknowledgement: (text) => beyondAcknowledgement(text, text),
  'statementsOf, of a session': lastingStatements,
  redacted: (text) => redacted(text, 500),
  redactText,
  scrubErrorText,
  relationName,
  comparisonQuestion,
  'what a comparison compares by': (text) => measuresOf(text),
  'quantities of a sentence': (text) => [quantitiesIn(text, ['money', 'length']), countsOf(text, 'employees')],
  'two things compared in a text': (text) => compared('Which is cheaper, the x or the Ada?', [passageOf(text)]),
  'kinds of two things in a text': (text) => compared('Are the x and Ada both magazines?', [passageOf(text)]),
  descriptionOf,
  'the inner question of a question': (text) => answerInner(text, [passageOf('I moved to Berlin in 2018.')]),
  withoutLast,
  isOwnAnswer: (text) => isOwnAnswer(`"${text}" (${text})`, true),
  withoutEvidence,
};

/** Slower work, over shorter texts: a square of a nanosecond for each pair of words still shows in the longest of them. */
const SLOW_WORK: Readonly<Record<string, (text: string) => unknown>> = {
  names,
  resolveNames: (text) => resolveNames(parts(text).map(mentionOf), []),
  'resolveNames among known names': (text) =>
    resolveNames(
      parts(text).slice(0, 100).map(mentionOf),
      parts(text).map((name) => ({ name, type: 'Person' })),
    ),
  resolveEntities: (text) =>
    resolveEntities(
      [...new Set(parts(text))].map((name) => ({ name, type: 'Person', aliases: name.split(' '), mentions: 1 })),
    ),
  'the entities of a document': documentEntities,
  'chunks of paragraphs': (text) => chunksOf(text.split('\n\n').map((part) => ({ kind: 'paragraph', text: part }))),
  'chunks of one paragraph': (text) => chunksOf([{ kind: 'paragraph', text }]),
  'chunks of a table': (text) => chunksOf([{ kind: 'table', text }]),
  'chunks of code': (text) => chunksOf([{ kind: 'code', text }]),
  extractiveSummary: (text) => extractiveSummary([text, text], 200),
  readQuestion,
};
const SLOW_WORK_LENGTHS = [1_500, 6_000, 24_000];

/** Work that shorter texts are spared, as they fit one chunk. */
const LONG_WORK: typeof SLOW_WORK = {
  'chunks under one heading': (text) => chunksOf([{ kind: 'heading', level: 1, text }]),
  'chunks under many headings': (text) =>
    chunksOf(text.split('\n').map((part, at) => ({ kind: 'heading', level: 1 + (at % 6), text: part }))),
};
const LONG_WORK_LENGTHS = [6_000, 24_000];

/** Work over chunks, which have a greatest size. */
const CHUNK_WORK: Readonly<Record<string, (text: string) => unknown>> = {
  extractByRules: (text) =>
    extractByRules({ text, documentName: 'x', speaker: 'Me', headings: [], knownNames: [] }, tag),
  'tables, records, key-values and code': (text) => {
    for (const kind of ['table', 'record', 'paragraph', 'code'] as const) {
      for (const format of ['yaml', 'code', 'markdown']) {
        const parts = [{ kind, start: 0, end: text.length, symbol: 'a.b' }];
        readStructure({ text, parts, format, fileName: 'x.ts', documentName: 'x', headings: [], knownNames: [] });
      }
    }
  },
};
const QUESTION = 'How many engines did Ada design in the year I moved?';
const passageOf = (text: string): ReadPassage => ({
  id: 'p',
  payload: {
    text,
    documentName: 'x',
    documentId: 'x',
    headings: [],
    chunkIndex: 0,
  } as unknown as ReadPassage['payload'],
});

/** Work over chunks for an answer. */
const ANSWER_WORK: Readonly<Record<string, (text: string) => unknown>> = {
  'the answer of sentences': (text) => {
    const question = readQuestion(QUESTION);
    const passages = [passageOf(text)];
    const ranked = rankSentences(sentencesOf(question, passages));
    return judgeEvidence(question, { ranked, short: shortAnswer(question, ranked), passages });
  },
  'the answer of tables': (text) => tableAnswer(QUESTION, tablesOf([passageOf(text)])),
  spansOf: (text) => spansOf(text, ['name', 'role', 'date', 'number', 'title', 'phrase']),
  saysOtherValue: (text) => saysOtherValue('Is the van red?', text),
  sourceLabel: (text) => sourceLabel({ text, documentName: '', headings: [] }),
  'the answer of documentation': (text) => {
    for (const question of ['What is the default port of Ada?', 'What licence is Ada under?', 'Where can I find Ada?'])
      documented(question, [passageOf(text)]);
  },
  'the code of a section': (text) => shownExample(readQuestion('How do I send data with Ada?'), [passageOf(text)]),
};

const CHUNK_LENGTHS = [500, 2_000, 8_000];

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
  let works = 0;
  isBounded('text', WORK, PUMPED_LENGTHS);
  isBounded('text', SLOW_WORK, SLOW_WORK_LENGTHS);
  isBounded('text', LONG_WORK, LONG_WORK_LENGTHS);
  isBounded('chunk', { ...CHUNK_WORK, ...ANSWER_WORK }, CHUNK_LENGTHS);

  function isBounded(input: string, all: typeof WORK, lengths: readonly number[]): void {
    for (const [name, work] of Object.entries(all)) {
      // Neighbours in these lists share their code and get different pumps.
      const pumps = partOf(PUMPS, 5, works++);
      it(`grows no faster than n·log n in ${name}, whatever is repeated in the ${input}`, () => {
        expect(pumps.flatMap((pump) => growthBeyond(work, pump, lengths) ?? [])).to.deep.equal([]);
      });
    }
  }
});

function chunksOf(blocks: readonly ChunkableBlock[]): unknown {
  const text = blocks.map((block) => block.text).join('\n\n');
  return chunkItem(ITEM, { text, blocks } as ParsedDocument, { maxTokens: 1000, targetTokens: 400 });
}

function documentEntities(text: string): unknown {
  const names = parts(text).filter((part) => part.trim() !== '');
  const document = createDocumentEntities();
  const known = createKnownNames();
  const names20 = [...slices(names, 20)];
  for (const [at, own] of names20.entries()) {
    const [first = ''] = own;
    const entities = own.map((name) => ({
      name,
      type: 'Person',
      description: '',
      mentions: 1,
      aliases: [first],
    }));
    const relations = own.map((name) => ({ source: name, target: first, relation: 'knows', evidence: name }));
    document.add(`c${at}`, { entities, relations }, own.slice(0, 1));
    known.add(entities, own.slice(0, 1));
    if (at % 16 === 0) known.list();
  }
  return document.resolve();
}

function statementsOf(text: string, areOfManyItems: boolean): Statement[] {
  return readStatements(text).map((read, ordinal): Statement => {
    const at = areOfManyItems ? String(ordinal) : '0';
    const place = { item: areOfManyItems ? `i${ordinal}` : 'i', chunk: 'c', ordinal };
    return { ...read, ...place, id: `s${ordinal}`, key: 'k', at, from: at };
  });
}

function parts(text: string): string[] {
  return text.split(/\n|(?<=\.) /u);
}

function mentionOf(name: string): Mention {
  const place = { start: 0, end: 0, isThing: false, isWord: false, isNested: false };
  return { surface: name, name, title: null, kind: 'name', ...place };
}
