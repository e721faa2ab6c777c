import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { JsonObject } from '../../kernel/json.ts';
import type { LoggedEvent } from '../../ports/event-log.ts';
import { readRunJob } from './jobs.ts';
import { DOMAIN_EVENTS, domainEventCodec } from './published-events.ts';

const logged = (type: string, data: JsonObject): LoggedEvent => ({
  offset: 7,
  id: 'e1',
  type,
  subjectId: 's1',
  tenant: 'personal',
  dataset: 'd1',
  occurredAt: '2026-01-02T03:04:05.678Z',
  data,
});

describe('jobs', () => {
  const job = { runId: 'r', datasetId: 'd', userId: 'u', userTenant: 'personal' };

  it('are read as they were stored, with options nested as deeply as a client may', async () => {
    let graphModel: JsonObject = { title: 'deep', list: [1, null, true] };
    for (let level = 0; level < 498; level += 1) graphModel = { inner: graphModel };
    const payload = { ...job, options: { graphModel, chunkSize: 0, customPrompt: '' } };
    expect(await readRunJob(payload)).to.deep.equal(payload);
  });

  it('of another release are read without what is unknown, and refused without what is needed', async () => {
    expect(await readRunJob({ ...job, options: {}, addedLater: 1 })).to.deep.equal({ ...job, options: {} });
    const refused = async (payload: JsonObject) =>
      readRunJob(payload).then(
        () => 'read',
        (error: unknown) => String(error),
      );
    expect(await refused({ ...job, userId: '' })).to.include('the job lacks userId');
    expect(await refused({ ...job, runId: 5 })).to.include('run_id');
  });
});

describe('domain events', () => {
  const samples: Readonly<Record<string, JsonObject>> = {
    'budget.exceeded': { account: 'tenant/t', kind: 'items', limit: 10, used: 10 },
    'budget.warned': { account: 'key/k', kind: 'storageBytes', limit: 10, used: 12 },
    'user.registered': {},
    'user.deleted': {},
    'dataset.reassigned': { ownerId: 'u1' },
    'tenant.reassigned': { ownerId: 'u1' },
    'tenant.erased': {},
    'dataset.created': { ownerId: 'u1' },
    'dataset.removed': { ownerId: 'u1' },
    'item.added': { format: 'text', sizeBytes: 12 },
    'item.updated': { format: 'text', sizeBytes: 12 },
    'item.forgotten': {},
    'run.started': { pipeline: 'p' },
    'run.completed': { pipeline: 'p', outcome: 'succeeded' },
    'run.errored': { pipeline: 'p', outcome: 'failed', errorClass: 'IngestionError' },
    'sync.started': { datasetIds: ['d1'] },
    'sync.ended': { status: 'completed', uploaded: 1, downloaded: 2 },
    'tenant.created': { ownerId: 'u1' },
    'membership.added': {},
    'membership.removed': {},
    'role.created': {},
    'role.deleted': {},
    'role.assigned': { roleId: 'r1', userId: 'u1' },
    'role.unassigned': { roleId: 'r1', userId: 'u1' },
    'access.granted': { holderId: 'u1', permission: 'read' },
    'access.revoked': { holderId: 'u1', permission: 'read' },
    'capability.granted': { holderId: 'r1', capability: 'manage_users' },
    'capability.revoked': { holderId: 'r1', capability: 'manage_users' },
  };

  it('keep their envelope and data', () => {
    expect(Object.keys(samples)).to.have.members([...DOMAIN_EVENTS.keys()]);
    for (const [type, data] of Object.entries(samples)) {
      const event = logged(type, data);
      expect(domainEventCodec.decode(domainEventCodec.encode(event))).to.deep.equal(event);
    }
    const none = { ...logged('run.completed', { pipeline: 'p', outcome: 'noop', errorClass: null }), dataset: null };
    expect(domainEventCodec.decode(domainEventCodec.encode(none))).to.deep.include({
      dataset: null,
      data: { pipeline: 'p', outcome: 'noop' },
    });
  });

  it('that events.proto does not have are refused, as is data of another shape', () => {
    expect(() => domainEventCodec.encode(logged('dataset.renamed', {}))).to.throw('no event dataset.renamed');
    expect(() => domainEventCodec.encode(logged('item.added', { format: 'text', size: 1 }))).to.throw('size');
  });

  it('that services write are all in events.proto', () => {
    const root = fileURLToPath(new URL('../../..', import.meta.url));
    const written = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .map((file) => readFileSync(`${root}/${file}`, 'utf8'))
      .filter((source) => source.includes('appendWrites('))
      .flatMap((source) => [...source.matchAll(/(?<=type(?::|\b.*[?:]) )'([a-z]+\.[a-z_]+)'/g)])
      .map(([, type]) => type);
    expect([...new Set(written)].toSorted()).to.deep.equal([...DOMAIN_EVENTS.keys()].toSorted());
  });
});
