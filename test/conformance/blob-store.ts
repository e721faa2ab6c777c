import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { asId } from '../../services/common/kernel/ids.ts';
import { type DatasetScope, datasetScope, type Scope } from '../../services/common/kernel/scope.ts';
import type { BlobStore } from '../../services/common/storage/ports/blob-store.ts';

interface BlobStoreSubject {
  readonly store: BlobStore;
  dispose(): Promise<void>;
}

const ODD_KEYS = [
  'plain',
  'items/1/original',
  'items/1/original/deeper',
  'items/1',
  'UPPER',
  'upper',
  'Upper/Case',
  '..',
  '../../escape',
  'a/../b',
  './dot',
  '.hidden',
  'trailing.',
  'trailing ',
  'con',
  'con.txt/nul',
  'C:\\windows\\path',
  'percent%2fencoded',
  'percent%',
  'a=b',
  'a+b',
  'question?*:|<>"',
  'é composed',
  'e\u0301 decomposed',
  '日本語/ファイル',
  '😀/👩‍👩‍👧‍👦',
  ' leading/ space',
  'a!b',
  'items/1!',
  'items/1 ',
  '...a/b',
  'x'.repeat(200),
  `${'long/'.repeat(79)}end`,
  '語'.repeat(66),
  'not\uffffcharacters\ufffe\ufffd',
];

/** Every blob store passes this; `open` gives an empty one. */
export function blobStoreConformance(name: string, open: () => Promise<BlobStoreSubject>): void {
  describe(`blob store: ${name}`, () => {
    let subject: BlobStoreSubject;
    before(async () => {
      subject = await open();
    });
    after(() => subject.dispose());
    const store = () => subject.store;
    blobContents(store);
    blobKeys(store);
    blobScopes(store);
  });
}

const newScope = (tenant = randomUUID()): DatasetScope => datasetScope(asId(tenant), asId(randomUUID()));
const bytes = (text: string) => Buffer.from(text, 'utf8');

async function textOf(store: BlobStore, scope: Scope, key: string): Promise<string | null> {
  const content = await store.get(scope, key);
  return content === null ? null : (await buffer(content)).toString('utf8');
}

async function isRejected(work: Promise<unknown>): Promise<boolean> {
  const [outcome] = await Promise.allSettled([work]);
  return outcome.status === 'rejected';
}

function blobContents(store: () => BlobStore): void {
  describe('content', () => {
    it('comes back as it was put, with its size and hashes', async () => {
      const scope = newScope();
      const content = randomBytes(300_000);
      const info = await store().put(scope, 'a', Readable.from([content.subarray(0, 7), content.subarray(7)]));
      expect(info).to.deep.equal({
        key: 'a',
        sizeBytes: 300_000,
        md5: createHash('md5').update(content).digest('hex'),
        sha256: createHash('sha256').update(content).digest('hex'),
      });
      expect(await store().put(scope, 'b', content)).to.deep.equal({ ...info, key: 'b' });
      for (const key of ['a', 'b']) {
        const read = await store().get(scope, key);
        expect(read !== null && (await buffer(read)).equals(content)).to.equal(true);
      }
      expect(await store().stat(scope, 'a')).to.deep.equal({ sizeBytes: 300_000 });
    });

    it('may be empty', async () => {
      const scope = newScope();
      expect(await store().put(scope, 'empty', Readable.from([]))).to.include({
        sizeBytes: 0,
        md5: 'd41d8cd98f00b204e9800998ecf8427e',
      });
      expect(await textOf(store(), scope, 'empty')).to.equal('');
    });

    it('is replaced as a whole: a reader keeps what it opened', async () => {
      const scope = newScope();
      await store().put(scope, 'a', bytes('old content'));
      const reading = await store().get(scope, 'a');
      await store().put(scope, 'a', bytes('new'));
      expect(reading !== null && (await buffer(reading)).toString()).to.equal('old content');
      expect(await textOf(store(), scope, 'a')).to.equal('new');
    });

    it('of a broken or aborted stream leaves what was there before', async () => {
      const scope = newScope();
      await store().put(scope, 'a', bytes('before'));
      const broken = () =>
        Readable.from(
          (async function* () {
            yield bytes('half');
            throw new Error('the client went away');
          })(),
        );
      expect(await isRejected(store().put(scope, 'a', broken()))).to.equal(true);
      expect(await isRejected(store().put(scope, 'new', broken()))).to.equal(true);
      const destroyed = new Readable({ read() {} });
      destroyed.push('half');
      setTimeout(() => destroyed.destroy(), 5);
      expect(await isRejected(store().put(scope, 'new', destroyed))).to.equal(true);
      const endless = new Readable({ read() {} });
      endless.push('half');
      const aborted = store().put(scope, 'new', endless, AbortSignal.timeout(5));
      expect(await isRejected(aborted)).to.equal(true);
      expect(endless.destroyed).to.equal(true);
      expect(await isRejected(store().put(scope, 'new', bytes('x'), AbortSignal.abort()))).to.equal(true);
      expect(await store().list(scope, { limit: 10 })).to.deep.equal([{ key: 'a', sizeBytes: 6 }]);
      expect(await textOf(store(), scope, 'a')).to.equal('before');
    });

    it('of concurrent puts is one of them, whole', async () => {
      const scope = newScope();
      const contents = Array.from({ length: 10 }, (_, index) => `${index}`.repeat(50_000));
      await Promise.all(contents.map((content) => store().put(scope, 'a', bytes(content))));
      expect(contents).to.include(await textOf(store(), scope, 'a'));
    });
  });
}

function blobKeys(store: () => BlobStore): void {
  describe('keys', () => {
    it('of any kind stay apart and come back from a listing in code point order', async () => {
      const scope = newScope();
      for (const key of ODD_KEYS) await store().put(scope, key, bytes(key));
      for (const key of ODD_KEYS) expect(await textOf(store(), scope, key)).to.equal(key);
      const sorted = ODD_KEYS.toSorted((left, right) => Buffer.compare(bytes(left), bytes(right)));
      for (const limit of [4, 100]) {
        const listed = await store().list(scope, { limit });
        expect(listed.map(({ key }) => key)).to.deep.equal(sorted.slice(0, limit));
      }
      expect(await store().remove(scope, ODD_KEYS)).to.equal(ODD_KEYS.length);
      expect(await store().list(scope, { limit: 5 })).to.deep.equal([]);
    });

    it('are listed by prefix, also within a segment', async () => {
      const scope = newScope();
      for (const key of ['items/10/a', 'items/1/a', 'items/1/b', 'items', 'itemsX', 'other']) {
        await store().put(scope, key, bytes('x'));
      }
      const listed = async (prefix: string) =>
        (await store().list(scope, { prefix, limit: 10 })).map(({ key }) => key).join(' ');
      expect(await listed('items/1/')).to.equal('items/1/a items/1/b');
      expect(await listed('items/1')).to.equal('items/1/a items/1/b items/10/a');
      expect(await listed('items')).to.equal('items items/1/a items/1/b items/10/a itemsX');
      expect(await listed('none')).to.equal('');
    });

    it('that are no keys are refused by a put and unknown to a read', async () => {
      const scope = newScope();
      for (const key of [
        '',
        '/',
        'a//b',
        '/a',
        'a/',
        'NUL\u0000',
        'line\nbreak',
        'lone \ud800',
        'x'.repeat(201),
        `${'a/'.repeat(200)}a`,
      ]) {
        const [outcome] = await Promise.allSettled([Promise.resolve().then(() => store().put(scope, key, bytes('x')))]);
        expect(outcome).to.have.nested.property('reason.wireName', 'InvalidRequestError');
        expect(await store().get(scope, key)).to.equal(null);
        expect(await store().stat(scope, key)).to.equal(null);
        expect(await store().remove(scope, [key])).to.equal(0);
      }
    });

    it('are removed one by one, by prefix and all together, and counted', async () => {
      const scope = newScope();
      for (const key of ['a/1', 'a/2', 'ab', 'b']) await store().put(scope, key, bytes('x'));
      expect(await store().remove(scope, ['a/1', 'missing', 'a/1'])).to.equal(1);
      expect(await store().removeAll(scope, 'a/')).to.equal(1);
      expect((await store().list(scope, { limit: 9 })).map(({ key }) => key)).to.deep.equal(['ab', 'b']);
      expect(await store().removeAll(scope)).to.equal(2);
      expect(await store().removeAll(scope)).to.equal(0);
      await store().put(scope, 'a/1', bytes('again'));
      expect(await textOf(store(), scope, 'a/1')).to.equal('again');
    });

    it('can be put while others of the same folder are removed', async () => {
      const scope = newScope();
      await Promise.all(
        Array.from({ length: 30 }, async (_, index) => {
          await store().put(scope, `f/g/${index}`, bytes('x'));
          if (index % 2 === 0) await store().remove(scope, [`f/g/${index}`]);
        }),
      );
      expect(await store().list(scope, { limit: 50 })).to.have.length(15);
    });
  });
}

function blobScopes(store: () => BlobStore): void {
  describe('scopes', () => {
    it('see nothing of another tenant or dataset, by any method', async () => {
      const tenant = randomUUID();
      const mine = newScope(tenant);
      await store().put(mine, 'a', bytes('mine'));
      const others: readonly Scope[] = [
        newScope(tenant),
        newScope(),
        { tenant: mine.tenant },
        { ...mine, tenant: asId('x') },
      ];
      for (const other of others) {
        expect(await store().get(other, 'a')).to.equal(null);
        expect(await store().stat(other, 'a')).to.equal(null);
        expect(await store().remove(other, ['a', '../a', `../${mine.dataset}/a`])).to.equal(0);
        expect(await store().list(other, { limit: 5 })).to.deep.equal([]);
        expect(await store().removeAll(other, 'a')).to.equal(0);
      }
      expect(await textOf(store(), mine, 'a')).to.equal('mine');
    });

    it('of a tenant remove its datasets too when everything is to go', async () => {
      const tenant = randomUUID();
      const [first, second, foreign] = [newScope(tenant), newScope(tenant), newScope()];
      for (const scope of [first, second, foreign, { tenant: first.tenant }]) await store().put(scope, 'a', bytes('x'));
      expect(await store().removeAll({ tenant: first.tenant })).to.equal(3);
      expect(await store().stat(first, 'a')).to.equal(null);
      expect(await store().stat(foreign, 'a')).to.not.equal(null);
    });
  });
}
