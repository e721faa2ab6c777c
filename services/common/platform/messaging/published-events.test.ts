import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { DOMAIN_EVENTS } from './published-events.ts';

describe('domain events', () => {
  it('are documented in proto/README.md, all of them with their messages and no others', () => {
    const readme = readFileSync(new URL('../../../../proto/README.md', import.meta.url), 'utf8');
    const [, table = ''] = /<!-- domain events[^>]*-->(.*)<!-- \/domain events -->/s.exec(readme) ?? [];
    const documented = [...table.matchAll(/^\| `([a-z.]+)` \| [^|]+ \| `(\w+)` /gm)].map(([, type, name]) => [
      type,
      name,
    ]);
    const known = [...DOMAIN_EVENTS].map(([type, { schema }]) => [type, schema.name]);
    expect(documented).to.have.deep.members(known);
  });
});
