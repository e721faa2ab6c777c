import { expect } from 'chai';
import type { UserId } from '../kernel/brand.ts';
import { asId } from '../kernel/ids.ts';
import { connectionId, memorySourceType } from './agent-connection.ts';

describe('agent connections', () => {
  it('have the ids that the reference gives for the same name and user', () => {
    // Observed on cognee 1.6.5.
    const user = asId<UserId>('1b84e6b0-8bfd-4202-993d-78c2ed873943');
    const names = {
      'sess-1': 'sess-1-89f3607210ff4cb0',
      'sess-2': 'sess-2-a7094ed705fa0909',
      '': 'agent-c8e534f53adcd312',
      [`  --Ünï / code ${'x'.repeat(60)}`]: `${'x'.repeat(48)}-1edc4b980ee2789b`,
    };
    for (const [name, id] of Object.entries(names)) expect(connectionId(name, user), name).to.equal(id);
    const agent = asId<UserId>('3ec39a1d-f63f-43b4-83b7-8b3aad4b2670');
    expect(connectionId('bot-sess', agent)).to.equal('bot-sess-335b84ba96c9f70c');
  });

  it('tell the type of a dataset by its name, a brain before a wiki before a project', () => {
    const types = ['Brain wiki', 'WIKI project', 'my project', 'notes', null].map(memorySourceType);
    expect(types).to.deep.equal(['company_brain', 'knowledge_wiki', 'project_dataset', 'dataset', 'dataset']);
  });
});
