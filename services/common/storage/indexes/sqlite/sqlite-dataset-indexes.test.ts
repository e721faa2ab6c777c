import { fork } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import {
  createScopes,
  edge,
  item,
  node,
  openTemporaryIndexes,
  textEntry,
  vectorEntry,
} from '../../../../../test/support/dataset-rows.ts';
import { repeats } from '../../../../../test/support/extent.ts';
import { rejection } from '../../../../../test/support/refusal-of.ts';
import type { DatasetScope } from '../../../kernel/scope.ts';
import type { DatasetIndexes } from '../../ports/dataset-indexes.ts';
import { createSqliteDatasetIndexes, datasetFile, migrateDatasetFiles } from './sqlite-dataset-indexes.ts';

const SPACE = { model: 'test/model', dimensions: 3 };

describe('SQLite dataset indexes', () => {
  const scopes = createScopes();
  let indexes: DatasetIndexes & { readonly directory: string };
  before(async () => {
    indexes = await openTemporaryIndexes({ openFiles: 3 });
  });
  after(() => indexes.close());

  const pathOf = (scope: DatasetScope) => datasetFile(indexes.directory, scope);
  const fill = async (scope: DatasetScope, word = 'word') => {
    await indexes.text.upsert(scope, [textEntry('a', `${word} filler`)]);
    await indexes.vectors.upsert(scope, SPACE, [vectorEntry('a', [1, 0, 0])]);
    await indexes.graph.upsert(scope, { nodes: [node('a', { name: word })], edges: [edge('a', 'b')] });
  };

  it('keeps a dataset in one file and makes none for a read or a removal', async () => {
    const scope = scopes('plain', 'reader');
    expect(await indexes.text.count(scope, {})).to.equal(0);
    expect(await indexes.vectors.remove(scope, { item: item('x') })).to.equal(0);
    await indexes.graph.drop(scope);
    expect(existsSync(dirname(pathOf(scope)))).to.equal(false);
    await fill(scope);
    expect(readdirSync(dirname(pathOf(scope))).filter((file) => !/-(wal|shm)$/.test(file))).to.deep.equal(['plain.db']);
  });

  it('removes the file when all three indexes were dropped, in any order, and creates a new one', async () => {
    const drops = ['text', 'vectors', 'graph'] as const;
    for (const order of [drops, drops.toReversed(), ['vectors', 'text', 'graph'] as const]) {
      const scope = scopes();
      await fill(scope);
      expect(
        await indexes.vectors.nearest(scope, { kind: 'chunk', vector: Float32Array.of(1, 0, 0), limit: 1 }),
      ).to.have.length(1);
      for (const [position, port] of order.entries()) {
        expect(existsSync(pathOf(scope))).to.equal(true, `before drop ${position}`);
        await indexes[port].drop(scope);
      }
      const left = readdirSync(dirname(pathOf(scope))).filter((file) => file.startsWith(`${scope.dataset}.db`));
      expect(left).to.deep.equal([]);
      expect(await indexes.graph.nodes(scope, ['a'])).to.deep.equal([]);
      await fill(scope, 'again');
      expect((await indexes.graph.nodes(scope, ['a']))[0]?.name).to.equal('again');
      expect(
        await indexes.vectors.nearest(scope, { kind: 'chunk', vector: Float32Array.of(1, 0, 0), limit: 5 }),
      ).to.have.length(1);
    }
  });

  it('serves more datasets than it keeps open', async () => {
    const many = Array.from({ length: 9 }, () => scopes());
    await Promise.all(many.map((scope, index) => fill(scope, `word${index}`)));
    for (let round = 0; round < 2; round++) {
      for (const [index, scope] of many.entries()) {
        const { candidates } = await indexes.text.candidates(scope, {
          kind: 'chunk',
          terms: [`word${index}`],
          limit: 5,
        });
        expect(candidates).to.have.length(1);
        expect(
          await indexes.vectors.nearest(scope, { kind: 'chunk', vector: Float32Array.of(1, 0, 0), limit: 5 }),
        ).to.have.length(1);
      }
    }
  });

  it('leaves nothing of a removed item in the file or its log', async () => {
    const scope = scopes();
    const secret = 'xyzzysecretword';
    const provenance = { item: item(`${secret}-item`), nodeSets: [`${secret}-set`] };
    await fill(scope);
    await indexes.text.upsert(scope, [
      textEntry(`${secret}-row`, `${secret} and more`, provenance),
      ...Array.from({ length: 300 }, (_, index) => textEntry(`${index}`, `${secret}${index} common`, provenance)),
    ]);
    await indexes.vectors.upsert(scope, SPACE, [vectorEntry(`${secret}-row`, [1, 0, 0], provenance)]);
    await indexes.graph.upsert(scope, {
      nodes: [node(`${secret}-node`, { ...provenance, name: secret })],
      edges: [edge(`${secret}-node`, 'a', { ...provenance, relation: secret })],
    });
    const selection = { item: provenance.item };
    expect(await indexes.text.remove(scope, selection)).to.equal(301);
    expect(await indexes.vectors.remove(scope, selection)).to.equal(1);
    expect(await indexes.graph.remove(scope, selection)).to.equal(2);
    const contents = () =>
      ['', '-wal'].map((suffix) => pathOf(scope) + suffix).filter(existsSync).map((file) => readFileSync(file, 'latin1')).join(''); // biome-ignore format: one line
    for (let wait = 0; wait < 600 && contents().includes(secret); wait++)
      await new Promise((done) => setTimeout(done, 20));
    expect(contents().includes(secret)).to.equal(false);
    expect(await indexes.text.count(scope, {})).to.equal(1);
  });

  it('reads of a file that is being dropped see nothing or later rows, never an error', async () => {
    const scope = scopes();
    let isOver = false;
    const read = async () => {
      while (!isOver) {
        await indexes.text.count(scope, {});
        await indexes.graph.count(scope);
        await indexes.vectors.nearest(scope, { kind: 'chunk', vector: Float32Array.of(1, 0, 0), limit: 5 });
        await indexes.text.fetch(scope, 'chunk', ['a']);
      }
    };
    const readers = Promise.all([read(), read(), read()]);
    for (let round = 0; round < repeats(300, 60); round += 1) {
      await fill(scope);
      await Promise.all([indexes.text.drop(scope), indexes.vectors.drop(scope), indexes.graph.drop(scope)]);
    }
    isOver = true;
    await readers;
    expect(await indexes.text.count(scope, {})).to.equal(0);
  });

  it('names the file when it is damaged, and goes on with the others', async () => {
    const [broken, foreign, good] = [scopes(), scopes(), scopes()];
    mkdirSync(dirname(pathOf(broken)), { recursive: true });
    writeFileSync(pathOf(broken), 'this is no database '.repeat(500));
    const other = new DatabaseSync(pathOf(foreign));
    other.exec('CREATE TABLE somebody_elses (x)');
    other.close();
    for (const scope of [broken, foreign]) {
      const attempts = [
        indexes.text.upsert(scope, [textEntry('a', 'b')]),
        indexes.graph.count(scope),
        indexes.vectors.nearest(scope, { kind: 'chunk', vector: Float32Array.of(1, 0, 0), limit: 5 }),
      ];
      for (const error of await Promise.all(attempts.map(rejection))) {
        expect(error.name).to.equal('CorruptStoreError');
        expect(error.message).to.include(pathOf(scope));
      }
    }
    await fill(good);
    expect(await indexes.text.count(good, {})).to.equal(1);
  });
});

describe('SQLite dataset files over a restart', () => {
  const scope = createScopes()('dataset');

  it('keep what was written, and refuse calls once closed', async () => {
    const first = await openTemporaryIndexes();
    await first.text.upsert(scope, [textEntry('a', 'word')]);
    const second = await createSqliteDatasetIndexes({ directory: first.directory });
    expect(await second.text.count(scope, {})).to.equal(1);
    await second.close();
    expect((await rejection(second.text.count(scope, {}))).name).to.equal('ServiceUnavailableError');
    expect((await rejection(second.text.upsert(scope, [textEntry('b', 'word')]))).name).to.equal(
      'ServiceUnavailableError',
    );
    expect(await first.text.count(scope, {})).to.equal(1);
    await first.close();
  });

  it('end what is running before they close', async () => {
    const first = await openTemporaryIndexes();
    const again = await createSqliteDatasetIndexes({ directory: first.directory });
    const writes = Array.from({ length: 20 }, (_, index) =>
      again.text.upsert(scope, [textEntry(`row-${index}`, 'word')]),
    );
    await again.close();
    await Promise.all(writes);
    expect(await first.text.count(scope, {})).to.equal(20);
    await first.close();
  });

  it('are refused when they are newer than this release, or older and not to be migrated', async () => {
    const first = await openTemporaryIndexes();
    await first.text.upsert(scope, [textEntry('a', 'word')]);
    const path = datasetFile(first.directory, scope);
    const setVersion = (version: number) => {
      const database = new DatabaseSync(path);
      database.prepare(`UPDATE meta SET value = ? WHERE key = 'schema_version'`).run(version);
      database.close();
    };
    for (const [version, hint] of [
      [99, 'newer'],
      [0, 'npm run migrate'],
    ] as const) {
      // biome-ignore format: pairs
      setVersion(version);
      const second = await createSqliteDatasetIndexes({ directory: first.directory, autoMigrate: false });
      const attempts = [second.text.count(scope, {}), second.text.upsert(scope, [textEntry('b', 'x')])];
      for (const error of await Promise.all(attempts.map(rejection))) {
        expect(error.message).to.include(path).and.include(String(version)).and.include(hint);
      }
      await second.close();
    }
    setVersion(1);
    expect(migrateDatasetFiles(first.directory)).to.deep.equal([path]);
    expect(await first.text.count(scope, {})).to.equal(1);
    await first.close();
  });

  it('of an older layout are migrated when they are opened', async () => {
    const empty = await openTemporaryIndexes();
    const calls = {
      read: () => empty.text.count(createScopes()('read'), {}),
      scan: () =>
        empty.vectors.nearest(createScopes()('scan'), { kind: 'chunk', vector: Float32Array.of(1), limit: 5 }),
      write: () => empty.text.upsert(createScopes()('write'), [textEntry('a', 'word')]),
      race: () =>
        Promise.all([
          empty.graph.count(createScopes()('race')),
          empty.vectors.nearest(createScopes()('race'), { kind: 'chunk', vector: Float32Array.of(1), limit: 5 }),
          empty.text.upsert(createScopes()('race'), [textEntry('a', 'word')]),
        ]),
    };
    for (const [name, call] of Object.entries(calls)) {
      const path = datasetFile(empty.directory, createScopes()(name));
      mkdirSync(dirname(path), { recursive: true });
      const database = new DatabaseSync(path);
      database.exec(`CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;
        INSERT INTO meta VALUES ('schema_version', 0)`);
      database.close();
      await call();
      await empty.text.upsert(createScopes()(name), [textEntry('a', 'word')]);
      expect(await empty.text.count(createScopes()(name), {})).to.equal(1);
    }
    await empty.close();
  });

  it('lose no acknowledged write when the process is killed', async () => {
    const first = await openTemporaryIndexes();
    for (let round = 0; round < 2; round++) {
      const acknowledged = await writeUntilKilled(first.directory, round, 150);
      const again = await createSqliteDatasetIndexes({ directory: first.directory });
      const target = { ...scope, dataset: `killed-${round}` } as DatasetScope;
      const rows = await again.text.count(target, {});
      const found = await again.text.candidates(target, { kind: 'chunk', terms: ['word'], limit: 1000 });
      const { nodeRows, edgeRows } = await again.graph.count(target);
      expect(acknowledged).to.be.greaterThan(0);
      expect(rows).to.be.at.least(acknowledged);
      expect(found.statistics).to.deep.equal({ rowCount: rows, averageLength: 2, rowFrequencies: [rows] });
      expect(await again.vectors.count(target, {})).to.be.at.least(acknowledged);
      expect(nodeRows).to.be.at.least(acknowledged);
      expect(edgeRows).to.equal(nodeRows);
      await again.close();
      expect(integrity(datasetFile(first.directory, target))).to.equal('ok');
    }
    await first.close();
  });
});

/** Number of rounds the child acknowledged before it was killed. */
async function writeUntilKilled(directory: string, round: number, afterMs: number): Promise<number> {
  const child = fork(
    join(import.meta.dirname, '../../../../../test/support/index-writer.ts'),
    [directory, `killed-${round}`],
    {
      stdio: 'inherit',
    },
  );
  let acknowledged = 0;
  child.on('message', (count) => {
    if (acknowledged === 0) setTimeout(() => child.kill('SIGKILL'), afterMs);
    acknowledged = Number(count);
  });
  await new Promise((resolve) => child.once('exit', resolve));
  return acknowledged;
}

function integrity(path: string): unknown {
  const database = new DatabaseSync(path);
  const result = database.prepare('PRAGMA integrity_check').get();
  database.close();
  return result?.['integrity_check'];
}
