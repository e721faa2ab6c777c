import { expect } from 'chai';
import type { UserId } from '../kernel/brand.ts';
import { asId } from '../kernel/ids.ts';
import { agentAddress, agentSlug, shownAgentAddress } from './agent-address.ts';
import { isAgentAddress } from './email-address.ts';

const parent = asId<UserId>('0d6c0000-0000-4000-8000-000000000000');

describe('agent addresses', () => {
  it('spell a name in lower case with hyphens for spaces, and show it without its parent', () => {
    for (const [name, slug] of [
      ['My Bot', 'my-bot'],
      ['a+b', 'a+b'],
      ['ÄÖ', 'äö'],
      ['a/b', 'a/b'],
      ['v1.2', 'v1.2'],
      ['🤖', '🤖'],
      ['x'.repeat(200), 'x'.repeat(200)],
    ] as const) {
      expect(agentSlug(name)).to.deep.equal({ slug });
      const address = agentAddress(slug, parent);
      expect(isAgentAddress(address), name).to.equal(true);
      expect(shownAgentAddress(address)).to.equal(`${slug}@cognee.agent`);
    }
  });

  it('are not made for names that no address can hold', () => {
    const names = [
      '',
      ' ',
      '\t',
      'a@b',
      'a\nb',
      'tab\there',
      'a\u0000',
      'a\u00a0b',
      '\ud800',
      'a\u200db',
      '<a>',
      'a,b',
    ];
    for (const name of [...names, 'a(b)', 'a:b', 'a"b', 'a\\b', '.a', 'a..b', 'x'.repeat(201), 'é'.repeat(101)]) {
      expect(agentSlug(name), JSON.stringify(name)).to.have.property('problem').that.is.a('string');
    }
  });
});
