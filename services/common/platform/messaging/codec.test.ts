import { create, type DescField, type DescMessage, fromBinary, ScalarType, toBinary, toJson } from '@bufbuild/protobuf';
import { expect } from 'chai';
import fc from 'fast-check';
import type { MethodPath } from '../../../../proto/gen/method-table.ts';
import type { RunState } from '../../domain/run.ts';
import { NO_RESULT } from '../../domain/run.ts';
import type { Span } from '../../domain/span.ts';
import type { DataItemId } from '../../kernel/brand.ts';
import type { DatasetRef } from '../../kernel/dataset.ts';
import { asId } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { PERSONAL_TENANT } from '../../kernel/scope.ts';
import { codecsOf, isRequired, SERVICES, topicCodecs } from './codec.ts';
import { REQUIRED_FIELDS } from './messages.ts';

const METHODS = Object.entries(SERVICES).flatMap(([service, { methods }]) =>
  methods.map(({ name, input, output }) => ({ path: `${service}.${name}` as MethodPath, input, output })),
);

/** Strings that stand for one of a few words. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  'engram.auth.v1.Quota.kind': ['items', 'datasets'],
  'engram.auth.v1.UsageOfKind.kind': ['items', 'datasets'],
  'engram.cognify.v1.RestoredPart.kind': ['blobs', 'rows', 'documents'],
};
const text = fc.string({ unit: 'binary' }).map((value) => value.toWellFormed());
const long = fc.maxSafeNat().map(BigInt);
const SCALARS: Partial<Record<ScalarType, fc.Arbitrary<unknown>>> = {
  [ScalarType.STRING]: text,
  [ScalarType.BOOL]: fc.boolean(),
  [ScalarType.DOUBLE]: fc.double({ noNaN: true }),
  [ScalarType.INT32]: fc.integer({ min: -1000, max: 1000 }),
  [ScalarType.UINT32]: fc.nat(),
  [ScalarType.INT64]: long,
  [ScalarType.UINT64]: long,
};

/** Messages of which one part means nothing without another, or a repeated one counts once. */
const REDUCED: readonly string[] = ['auth.FindManaged', 'auth.SetQuota', 'cognify.RestoreBuilt'];

/** Any message of a schema, without fields that are not used any more. */
function anyOf(schema: DescMessage): fc.Arbitrary<Record<string, unknown>> {
  const used = schema.members.filter((member) => member.kind === 'oneof' || !member.deprecated);
  const members = used.map((member) => {
    if (member.kind === 'oneof') {
      const choices = member.fields.map((field) =>
        anyField(field).map((value) => ({
          case: field.localName,
          value: field.scalar === ScalarType.BOOL ? true : value,
        })),
      );
      return [member.localName, fc.oneof(...choices)] as const;
    }
    const value = member.fieldKind === 'list' ? fc.array(anyField(member), { maxLength: 3 }) : anyField(member);
    return [member.localName, member.proto.proto3Optional ? fc.option(value, { nil: undefined }) : value] as const;
  });
  return fc.record(Object.fromEntries(members));
}

function anyField(field: DescField): fc.Arbitrary<unknown> {
  const words = WORDS[`${field.parent.typeName}.${field.localName}`];
  if (words !== undefined) return fc.constantFrom(...words);
  if (field.message !== undefined) return anyOf(field.message);
  if (field.enum !== undefined)
    return fc.constantFrom(...field.enum.values.map(({ number }) => number).filter(Boolean));
  if (field.localName.endsWith('Json'))
    return fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value));
  const scalar = field.scalar === undefined ? undefined : SCALARS[field.scalar];
  if (scalar === undefined) throw new Error(`no values for ${field.parent.typeName}.${field.localName}`);
  return scalar;
}

const dataset: DatasetRef = {
  id: asId('00000000-0000-4000-8000-0000000000d1'),
  name: 'notes',
  ownerId: asId('00000000-0000-4000-8000-00000000000a'),
  tenant: PERSONAL_TENANT,
  createdAt: '2026-01-02T03:04:05.678Z',
  updatedAt: null,
};
const sentAndReceived = (path: MethodPath, side: 'request' | 'answer', value: unknown): unknown => {
  const codec = codecsOf(path)[side];
  return codec.decode(codec.encode(value));
};

describe('messages between services', () => {
  for (const { path, input, output } of METHODS) {
    it(`keep every field of ${path}`, () => {
      const sides = [
        ['request', input],
        ['answer', output],
      ] as const;
      for (const [side, schema] of sides) {
        const codec = codecsOf(path)[side];
        fc.assert(
          fc.property(anyOf(schema), (fields) => {
            const message = create(schema, fields);
            const value = codec.decode(toBinary(schema, message));
            const again = codec.encode(value);
            expect(codec.decode(again)).to.deep.equal(value);
            if (REDUCED.includes(path)) return;
            expect(toJson(schema, fromBinary(schema, again))).to.deep.equal(toJson(schema, message));
          }),
          { numRuns: 25 },
        );
      }
    });
  }

  it('have the fields that are always present as required fields of their types', () => {
    const wrong = METHODS.flatMap(({ input, output }) => [input, output]).flatMap(({ typeName, fields }) =>
      fields
        .filter((field) => field.message !== undefined && field.fieldKind === 'message' && field.oneof === undefined)
        .filter((field) => {
          const listed = REQUIRED_FIELDS.some(
            (one) => one === field.localName || one === `${typeName}.${field.localName}`,
          );
          return (
            listed !== isRequired(field) &&
            `${typeName}.${field.localName}` !== 'engram.auth.v1.BeginErasureResponse.dataset'
          );
        })
        .map(({ localName }) => `${typeName}.${localName}`),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('leave absent fields out of requests and name them null in answers', () => {
    expect(sentAndReceived('auth.ResolveDatasets', 'request', { permission: 'read', ids: [] })).to.deep.equal({
      permission: 'read',
      ids: [],
    });
    const answer = { principal: null, required: true, posture: 'closed' };
    expect(sentAndReceived('auth.Authenticate', 'answer', answer)).to.deep.equal({
      ...answer,
      token: null,
      tenantState: null,
    });
  });

  it('carry values of the domain as they are, whatever of them is absent, null or empty', () => {
    expect(sentAndReceived('improve.Erase', 'request', { dataset })).to.deep.equal({ dataset });
    const principal = {
      id: dataset.ownerId,
      email: 'a@example.com',
      tenant: PERSONAL_TENANT,
      isSuperuser: false,
      parentId: null,
    };
    for (const value of [principal, { ...principal, key: { id: 'k', permissions: null, datasets: [] } }])
      expect(sentAndReceived('auth.GetPrincipal', 'answer', { principal: value, token: 't' })).to.deep.equal({
        principal: value,
        token: 't',
      });
    const prune = { tenantId: dataset.tenant, datasetId: dataset.id, crUid: 'u', keep: 1, place: null };
    expect(sentAndReceived('ingest.PruneSnapshots', 'request', prune)).to.deep.equal(prune);
    const quota = {
      tenant: dataset.tenant,
      limits: { items: { limit: null, action: 'Enforce' }, datasets: { limit: 0, action: 'Warn' } },
    };
    expect(sentAndReceived('auth.SetQuota', 'request', quota)).to.deep.equal(quota);
  });

  it('carry objects of clients that are nested as deeply as a client may', () => {
    let graphModel: JsonObject = { title: 'deep' };
    for (let level = 0; level < 498; level += 1) graphModel = { inner: graphModel };
    const value = { dataset, options: { graphModel, chunkSize: 0 }, background: false };
    expect(sentAndReceived('cognify.StartRun', 'request', value)).to.deep.equal(value);
  });

  it('leave the items of a run out of its events', () => {
    const run: RunState = {
      id: asId('00000000-0000-4000-8000-0000000000e1'),
      pipeline: 'cognify_pipeline',
      dataset: dataset.id,
      datasetName: 'notes',
      status: 'DATASET_PROCESSING_COMPLETED',
      ...NO_RESULT,
      progress: { completedItems: 1, totalItems: 1, currentStage: null },
      items: [{ item: asId<DataItemId>(dataset.id), status: 'completed' }],
      counts: { chunks: 3 },
      startedAt: dataset.createdAt,
      endedAt: null,
    };
    const { encode, decode } = topicCodecs.runs;
    expect(decode(encode({ kind: 'completed', run }))).to.deep.equal({ kind: 'completed', run: { ...run, items: [] } });
    const progress = { kind: 'progress', run: { ...run, items: [] }, stage: 'extract', stageIndex: 0, stageTotal: 4 };
    expect(decode(encode(progress))).to.deep.equal(progress);
  });

  it('carry spans and changes of access', () => {
    const root: Span = {
      traceId: '0af7651916cd43dd8448eb211c80319c',
      id: 'b7ad6b7169203331',
      parentId: null,
      rootId: 'b7ad6b7169203331',
      name: 'GET /things',
      startMs: 1_700_000_000_000.25,
      endMs: 1_700_000_000_001.5,
      status: 'OK',
      attributes: { 'http.status_code': 200, request_id: 'r', is_first: true },
      owner: { user: dataset.ownerId, tenant: PERSONAL_TENANT },
    };
    const child: Span = { ...root, id: '00f067aa0ba902b7', parentId: root.id, status: 'ERROR', owner: null };
    const spans = [root, child, { ...child, attributes: {} }];
    expect(topicCodecs.spans.decode(topicCodecs.spans.encode({ spans }))).to.deep.equal({ spans });
    const change = { tenant: PERSONAL_TENANT, userId: null, datasetId: dataset.id };
    expect(topicCodecs.access.decode(topicCodecs.access.encode(change))).to.deep.equal(change);
  });

  it('refuse the name of a new dataset that UTF-8 cannot carry', () => {
    const { encode } = codecsOf('auth.CreateDataset').request;
    expect(() => encode({ name: 'half\ud800' })).to.throw('invalid Unicode');
    const resolve = codecsOf('auth.ResolveDatasets').request;
    expect(() => resolve.encode({ permission: 'write', names: ['half\ud800'], createMissing: true })).to.throw(
      'invalid Unicode',
    );
    resolve.encode({ permission: 'write', names: ['half\ud800'] });
  });

  it('refuse bytes, enum values and missing fields that they cannot read', () => {
    const { decode } = codecsOf('auth.ResolveDatasets').request;
    expect(() => decode(Uint8Array.from([0x08, 0x63]))).to.throw('has no value 99');
    expect(() => decode(Uint8Array.from([]))).to.throw('has no value 0');
    expect(() => decode(Uint8Array.from([0xff]))).to.throw();
    expect(() => codecsOf('improve.Erase').request.decode(Uint8Array.from([]))).to.throw(
      'the field dataset is missing',
    );
  });
});
