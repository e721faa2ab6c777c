import { expect } from 'chai';
import { isUuid } from '../../kernel/ids.ts';
import { createIdSource } from './id-source.ts';

describe('id source', () => {
  it('makes random version 4 UUIDs', () => {
    const ids = createIdSource();
    const made = Array.from({ length: 1000 }, () => ids.uuid());
    expect(new Set(made).size).to.equal(1000);
    expect(made.every((id) => isUuid(id) && id[14] === '4')).to.equal(true);
  });

  it('makes ordered ids that grow, also when the clock stands or goes back', () => {
    const times = [1000, 1000, 999, 5000, 4000];
    let calls = 0;
    const ids = createIdSource({ now: () => new Date(times[Math.min(4, Math.floor(calls++ / 10_000))] ?? 0) });
    const made = Array.from({ length: 50_000 }, () => ids.ordered());
    expect(made.every((id) => isUuid(id) && id[14] === '7' && '89ab'.includes(id[19] ?? ''))).to.equal(true);
    expect(made.every((id, index) => index === 0 || id > (made[index - 1] ?? ''))).to.equal(true);
  });

  it('puts the time in front, so that ids of several processes sort by time', () => {
    const at = (ms: number) => createIdSource({ now: () => new Date(ms) }).ordered();
    expect(at(1_700_000_000_000) < at(1_700_000_000_001)).to.equal(true);
    expect(Number.parseInt(at(1_700_000_000_000).replaceAll('-', '').slice(0, 12), 16)).to.equal(1_700_000_000_000);
  });
});
