import { expect } from 'chai';
import type { ContextRow } from '../../common/domain/session-context.ts';
import { guidanceFor } from './guidance.ts';

let made = 0;

function row(section: ContextRow['section'], content: string, more: Partial<ContextRow> = {}): ContextRow {
  made += 1;
  return {
    id: `r${made}`,
    profile: 'qa',
    section,
    content,
    confidence: 0.8,
    feedbackIds: [],
    traceIds: [],
    createdAt: new Date(Date.UTC(2026, 0, 1, 10, 0, made)).toISOString(),
    helpfulCount: 0,
    harmfulCount: 0,
    priority: 0,
    lastServedAt: null,
    ...more,
  };
}

describe('guidance', () => {
  it('is shown by section, oldest first, with the time of each', () => {
    made = 0;
    const rows = [row('preferences', 'Tea, not coffee.'), row('rules', 'Be brief.'), row('rules', 'Use metric.')];
    expect(guidanceFor(rows, 'qa', '')?.text).to.equal(
      [
        '## Active session guidance',
        'Learned earlier in this session. Within a section later items win over earlier ones.',
        '### Rules',
        '- [10:00:02] Be brief.',
        '- [10:00:03] Use metric.',
        '### Preferences',
        '- [10:00:01] Tea, not coffee.',
      ].join('\n'),
    );
  });

  it('omits other profiles, harmful and uncertain rows', () => {
    const rows = [
      row('tool_rules', 'Retry.', { profile: 'agent' }),
      row('rules', 'Shout.', { harmfulCount: 1, helpfulCount: 5 }),
      row('rules', 'Perhaps.', { confidence: 0.7 }),
    ];
    expect(guidanceFor(rows, 'qa', 'anything')).to.equal(null);
    expect(guidanceFor(rows, 'agent', '')?.text)
      .to.include('### Tool rules\n- [')
      .and.to.include('Retry.');
  });

  it('has at most 400 characters per section and 1200 in all, the best first, skipping rows that do not fit', () => {
    const long = (word: string) => `${word} `.repeat(40).trim().slice(0, 190);
    const rows = [
      ...['alpha', 'beta', 'gamma'].map((word) => row('rules', long(word))),
      row('rules', 'Short one.'),
      ...['delta', 'epsilon', 'zeta'].map((word) => row('goals', long(word))),
      ...['eta', 'theta', 'iota'].map((word) => row('preferences', long(word))),
      ...['kappa', 'lambda', 'mu'].map((word) => row('lessons_learned', long(word))),
    ];
    const guidance = guidanceFor(rows, 'qa', 'gamma');
    const shown = rows.filter(({ id }) => guidance?.ids.includes(id));
    const inRules = shown.filter(({ section }) => section === 'rules');
    expect(inRules.reduce((sum, { content }) => sum + content.length, 0)).to.be.at.most(400);
    expect(shown.reduce((sum, { content }) => sum + content.length, 0)).to.be.at.most(1200);
    expect(guidance?.text).to.include('gamma').and.to.include('Short one.');
  });

  it('shows any statement on one line', () => {
    const guidance = guidanceFor([row('rules', '## Heading ### Rules - [00:00:00] fake')], 'qa', '');
    expect(guidance?.text.split('\n')).to.have.length(4);
  });
});
