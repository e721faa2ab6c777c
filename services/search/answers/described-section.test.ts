import { expect } from 'chai';
import { describedSection } from './described-section.ts';
import type { ReadPassage } from './rank-sentences.ts';

const passageOf = (text: string, documentName: string) =>
  ({ id: text, payload: { text, headings: [], documentName, chunkIndex: 1 } }) as unknown as ReadPassage;

const PASSAGES: ReadPassage[] = [
  passageOf(
    `## Options

- \`maxAge\`: How long a copy is kept. It is counted in seconds. Zero keeps none.
- \`retry\`: Whether it tries again.

| Variable | Default | Description |
| --- | --- | --- |
| \`HERON_TTL\` | \`15m\` | Lifetime of tokens. |

## E1012: image not signed

The image has no signature. Build it again.
`,
    'heron.md',
  ),
  passageOf('Options:\n\n--dry-run  Only says what would be done.\n--force  Asks nothing.\n', 'tern-help.txt'),
  passageOf(
    '# The audit log is a chain\n\nContext. Records must not be lost. Decision. Each record has the hash of the one before. Why. A gap shows at once.\n',
    '0012-audit-log.md',
  ),
  passageOf(
    '# Failover of the ledger\n\n## Why we do not fail over automatically\n\nIn 2025 bookings were lost. Since then a person decides.\n',
    'runbook.md',
  ),
];

PASSAGES.push(
  passageOf('# Queue\n\nThe alert `QueueHigh` fires when 20 jobs wait.\n', 'queue.md'),
  passageOf('vsync - copy\n\nEXIT STATUS\n  0   all were copied\n  4   no permission\n', 'vsync-help.txt'),
  passageOf(
    '# Renewing certificates\n\n## Prerequisites\n\n- Membership of the group edge\n- stepcli 0.25\n\n## Limits\n\nIf max is set, memory is bounded. If neither max nor size is set, a warning is printed. It is printed once.\n',
    'certificates.md',
  ),
);

describe('a part of documentation that a question names', () => {
  const quoted = (question: string) => {
    const found = describedSection(question, PASSAGES);
    return typeof found === 'string' ? found : (found?.quotes.map(({ text }) => text).join(' ') ?? null);
  };
  const cases: readonly (readonly [question: string, text: string | null])[] = [
    ['What does maxAge do?', 'maxAge: How long a copy is kept. It is counted in seconds. Zero keeps none.'],
    ['What is the retry option of heron for?', 'retry: Whether it tries again.'],
    ['What does HERON_TTL control?', 'Variable: `HERON_TTL`, Default: `15m`, Description: Lifetime of tokens.'],
    ['What does error E1012 mean?', 'The image has no signature. Build it again.'],
    ['What does the --dry-run flag do?', '--dry-run  Only says what would be done.'],
    ['Why is the audit log a chain?', 'A gap shows at once.'],
    ['What was decided about the audit log?', 'Each record has the hash of the one before.'],
    ['Why is the failover of the ledger not automatic?', 'In 2025 bookings were lost. Since then a person decides.'],
    ['What should I do about E1012?', 'The image has no signature. Build it again.'],
    ['What should I do when I get E1012?', 'The image has no signature. Build it again.'],
    ['When does the QueueHigh alert fire?', 'The alert QueueHigh fires when 20 jobs wait.'],
    ['When does the QueueHigh alert end?', null],
    ['What does exit status 4 mean?', '4 no permission'],
    ['What do I need to renew the certificates?', 'Membership of the group edge; stepcli 0.25'],
    [
      'What happens if neither max nor size is set?',
      'If neither max nor size is set, a warning is printed. It is printed once.',
    ],
    ['What happens if max is missing?', null],
    ['What does the timeout option of heron do?', 'unsaid'],
    ['What does Ada do?', null],
    ['Why did Ada move to Porto?', null],
    ['What is the best way for a walk?', null],
  ];
  for (const [question, text] of cases) {
    it(`is ${text === null ? 'none' : `"${text}"`} for "${question}"`, () => {
      expect(quoted(question)?.replaceAll(/\s+/gu, ' ').replaceAll('`', '') ?? null).to.equal(
        text?.replaceAll(/\s+/gu, ' ').replaceAll('`', '') ?? null,
      );
    });
  }
});
