import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { expectShortTurns, longestTurn } from '../../../../../test/support/cpu-time.ts';
import { rejection } from '../../../../../test/support/refusal-of.ts';
import { until } from '../../../../../test/support/until.ts';
import type { EngramError } from '../../../kernel/errors.ts';
import { asId } from '../../../kernel/ids.ts';
import type { Scope } from '../../../kernel/scope.ts';
import { type Collection, type DocumentStore, insert, removeWhere, update } from '../../ports/document-store.ts';
import { openSqliteDocumentReader, openSqliteDocumentStore } from './document-store.ts';
import { migrate } from './migrations.ts';
import { createRevisions } from './unchanged-reads.ts';

type Note = { readonly title?: string; readonly rank?: number; readonly text?: string };
const notes: Collection<Note> = { name: 'notes', level: 'tenant', indexes: [{ fields: ['title'] }] };
const scope: Scope = { tenant: asId('t') };

describe('SQLite document store', () => {
  let directory: string;
  let file: string;
  const opened: DocumentStore[] = [];
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'engram-sqlite-'));
    file = join(directory, 'control.db');
  });
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
    await chmod(directory, 0o755);
    await rm(directory, { recursive: true, force: true });
  });
  const open = async (options: { autoMigrate?: boolean } = {}) => {
    const store = await openSqliteDocumentStore({ file, autoMigrate: options.autoMigrate ?? true });
    opened.push(store);
    return store;
  };
  const openingError = async (): Promise<EngramError> => rejection(open());
  const withDatabase = (work: (database: DatabaseSync) => void) => {
    const database = new DatabaseSync(file);
    work(database);
    database.close();
  };

  it('keeps documents over a restart, in one file', async () => {
    const first = await open();
    await first.prepare([notes]);
    await first.commit(scope, [insert(notes, 'a', { title: 'x' })]);
    await first.close();
    expect(await stat(`${file}-wal`).catch(() => null)).to.equal(null);
    const second = await open();
    await second.prepare([notes]);
    expect((await second.get(scope, notes, 'a'))?.value).to.deep.equal({ title: 'x' });
  });

  it('makes files that other accounts of the machine cannot read, in a directory that they can enter too', async function () {
    if (process.platform === 'win32') this.skip();
    await chmod(directory, 0o755);
    const store = await open();
    await store.prepare([notes]);
    await store.commit(scope, [insert(notes, 'a', { title: 'x' })]);
    for (const name of [file, `${file}-wal`, `${file}-shm`]) {
      expect((await stat(name)).mode & 0o077, name).to.equal(0);
    }
  });

  it('indexes documents of an earlier release by fields that are new, and drops indexes that are no longer declared', async () => {
    const first = await open();
    await first.prepare([notes]);
    const many = Array.from({ length: 1200 }, (_, index) => insert(notes, `n${index}`, { title: 'x', rank: index }));
    await first.commit(scope, many);
    await first.close();
    const second = await open();
    const ranked: Collection<Note> = { ...notes, indexes: [{ fields: ['rank'], unique: true }] };
    await second.prepare([ranked]);
    expect(await second.count(scope, ranked, { rank: { atLeast: 1000 } })).to.equal(200);
    const taken = await rejection(second.commit(scope, [insert(ranked, 'again', { rank: 7 })]));
    expect(taken).to.deep.include({ name: 'DuplicateKeyError', index: ['rank'] });
    await second.close();
    const third = await open();
    await third.prepare([notes]);
    await third.commit(scope, [insert(notes, 'again', { rank: 7 }), update(notes, 'n7', { set: { title: 'y' } })]);
    expect(await third.count(scope, notes, { title: 'x' })).to.equal(1199);
  });

  it('has the collections that it is opened with', async () => {
    const store = await openSqliteDocumentStore({ file, autoMigrate: true, collections: [notes] });
    opened.push(store);
    await store.commit(scope, [insert(notes, 'a', { title: 'x' })]);
    expect(await store.count(scope, notes, { title: 'x' })).to.equal(1);
  });

  it('shows every acknowledged commit to its own queries and to readers of other threads, though they keep what they read', async () => {
    const revisions = createRevisions();
    const store = await openSqliteDocumentStore({ file, autoMigrate: true, collections: [notes], revisions });
    const reader = openSqliteDocumentReader(file, revisions);
    opened.push(store, reader);
    const other: Scope = { tenant: asId('other') };
    const readAll = async ({ get, getMany, find, count }: DocumentStore, at: Scope) => ({
      one: (await get(at, notes, 'a'))?.value ?? null,
      many: (await getMany(at, notes, ['b', 'a', 'b'])).map(({ id, value }) => [id, value.rank]),
      found: (await find(at, notes, { where: { title: { in: ['x', 'y'] } }, limit: 10 })).items.map(({ id }) => id),
      counted: await count(at, notes, { title: 'x' }),
    });
    const sees = async (expected: object) => {
      for (const reads of [store, reader]) {
        // The second time from what was kept.
        for (let time = 0; time < 2; time++) expect(await readAll(reads, scope)).to.deep.equal(expected);
        expect((await readAll(reads, other)).counted).to.equal(0);
      }
    };
    await sees({ one: null, many: [], found: [], counted: 0 });
    await store.commit(scope, [insert(notes, 'a', { title: 'x', rank: 1 })]);
    await sees({ one: { title: 'x', rank: 1 }, many: [['a', 1]], found: ['a'], counted: 1 });
    await store.commit(scope, [insert(notes, 'b', { title: 'y', rank: 2 }), update(notes, 'a', { set: { rank: 3 } })]);
    await sees({
      one: { title: 'x', rank: 3 },
      many: [
        ['b', 2],
        ['a', 3],
      ],
      found: ['a', 'b'],
      counted: 1,
    });
    await store.commit(scope, [removeWhere(notes, { title: 'x' })]);
    await sees({ one: null, many: [['b', 2]], found: ['b'], counted: 0 });
  });

  it('is not opened with a collection that cannot be prepared, and lets go of the file', async () => {
    await (await openSqliteDocumentStore({ file, autoMigrate: true, collections: [notes] })).close();
    const changed: Collection<Note> = { ...notes, level: 'dataset' };
    const opening = openSqliteDocumentStore({ file, autoMigrate: true, collections: [changed] });
    expect((await rejection(opening)).message).to.contain('notes');
    // An exclusive transaction has the file to itself, or fails.
    withDatabase((database) => database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT;'));
  });

  it('refuses a collection that changes its level', async () => {
    const store = await open();
    await store.prepare([notes]);
    expect((await rejection(store.prepare([{ ...notes, level: 'dataset' }]))).message).to.contain('notes');
  });

  it('refuses a collection that was not prepared', async () => {
    const store = await open();
    expect((await rejection(store.get(scope, notes, 'a'))).message).to.contain('notes was not prepared');
  });

  it('loses nothing that was acknowledged when its process is killed', async () => {
    const child = spawn(process.execPath, [
      fileURLToPath(new URL('./testing/commit-for-ever.ts', import.meta.url)),
      file,
    ]);
    let acknowledged = 0;
    let complaint = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint += text;
    });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      acknowledged = Math.max(acknowledged, ...text.trim().split('\n').map(Number));
      if (acknowledged > 300) child.kill('SIGKILL');
    });
    await once(child, 'close');
    expect(acknowledged, complaint).to.be.greaterThan(300);
    const store = await open();
    await store.prepare([notes]);
    const stored = await store.count(scope, notes, {});
    expect(stored).to.be.at.least(acknowledged * 2);
    expect(stored % 2, 'half of a commit').to.equal(0);
  });

  it('says which file is damaged when it is no database', async () => {
    await writeFile(file, 'this is not a database, but it is long enough to be taken for one'.repeat(100));
    const error = await openingError();
    expect(error).to.include({ wireName: 'CorruptStoreError', status: 500 });
    expect(error.message).to.contain(file);
  });

  it('says which file is cut short', async () => {
    const store = await open();
    await store.prepare([notes]);
    await store.commit(scope, [insert(notes, 'a', { text: 'x'.repeat(100_000) })]);
    await store.close();
    await truncate(file, 16_384);
    const error = await openingError();
    expect(error).to.include({ wireName: 'CorruptStoreError' });
    expect(error.message).to.contain(file);
  });

  it('says which file is damaged when a page turns out to be', async () => {
    const store = await open();
    await store.prepare([notes]);
    const many = Array.from({ length: 500 }, (_, index) => insert(notes, `n${index}`, { text: 'x'.repeat(200) }));
    await store.commit(scope, many);
    await store.close();
    const bytes = await readFile(file);
    bytes.fill(0xa5, 4096 * 3);
    await writeFile(file, bytes);
    const error = await rejection(
      (async () => {
        const again = await open();
        await again.prepare([notes]);
        await again.find(scope, notes, { limit: 1000 });
      })(),
    );
    expect(error).to.include({ wireName: 'CorruptStoreError' });
    expect(error.message).to.contain(file);
  });

  it('refuses a file of a newer release, and one that is not ours', async () => {
    await (await open()).close();
    withDatabase((database) => database.exec(`UPDATE meta SET value = 99 WHERE key = 'schema_version'`));
    expect((await openingError()).message).to.match(/schema version 99.*newer/s);
    await rm(file);
    withDatabase((database) => database.exec('CREATE TABLE somebody_else (x)'));
    expect(await openingError()).to.include({ wireName: 'CorruptStoreError' });
    withDatabase((database) => expect(database.prepare('SELECT * FROM somebody_else').all()).to.deep.equal([]));
  });

  it('leaves a file that is behind alone when migrations are off, and says how to migrate', async () => {
    const database = new DatabaseSync(file);
    const first = { version: 1, sql: 'CREATE TABLE one (x)' };
    const second = { version: 2, sql: 'CREATE TABLE two (x)' };
    expect(migrate(database, { file, autoMigrate: false, migrations: [first] })).to.deep.equal([1]);
    const refuse = () => migrate(database, { file, autoMigrate: false, migrations: [first, second] });
    expect(refuse).to.throw('npm run migrate');
    const broken = { version: 3, sql: 'CREATE TABLE three (x); SELECT nonsense(' };
    const fail = () => migrate(database, { file, autoMigrate: true, migrations: [first, second, broken] });
    expect(fail).to.throw();
    expect(database.prepare(`SELECT name FROM sqlite_schema WHERE name IN ('two', 'three')`).all()).to.deep.equal([]);
    expect(migrate(database, { file, autoMigrate: true, migrations: [first, second] })).to.deep.equal([2]);
    expect(migrate(database, { file, autoMigrate: true, migrations: [first, second] })).to.deep.equal([]);
    database.close();
  });

  it('says so when the directory is missing or cannot be written', async () => {
    file = join(directory, 'missing', 'control.db');
    const missing = await openingError();
    expect(missing).to.include({ wireName: 'ServiceUnavailableError' });
    expect(missing.message).to.contain(file);
    await chmod(directory, 0o555);
    expect(await openUnprivileged(join(directory, 'control.db'))).to.contain('cannot be opened or created');
  });

  it('says so when the file cannot be written', async () => {
    await (await open()).close();
    await chmod(file, 0o444);
    await chmod(directory, 0o555);
    expect(await openUnprivileged(file)).to.match(/cannot be (written: it is read-only|opened or created)/);
  });

  it('fails what comes after closing, and closing twice is no error', async () => {
    const store = await open();
    await store.prepare([notes]);
    await Promise.all([store.close(), store.close()]);
    expect(await rejection(store.commit(scope, [insert(notes, 'a', {})]))).to.include({ status: 503 });
    expect(await rejection(store.get(scope, notes, 'a'))).to.include({ status: 503 });
    await store.close();
  });

  it('ends the commits under way before it closes', async () => {
    const store = await open();
    await store.prepare([notes]);
    const commits = Array.from({ length: 50 }, (_, index) => store.commit(scope, [insert(notes, `n${index}`, {})]));
    await store.close();
    await Promise.all(commits);
    const again = await open();
    await again.prepare([notes]);
    expect(await again.count(scope, notes, {})).to.equal(50);
  });

  it('answers a commit with one document, however often it is read', async () => {
    const store = await open();
    await store.prepare([notes]);
    const [result] = await store.commit(scope, [insert(notes, 'a', { title: 'x' })]);
    expect(result?.stored?.value).to.deep.equal({ title: 'x' });
    expect(result?.stored).to.equal(result?.stored);
  });

  it('keeps serving requests while it commits much', async () => {
    const store = await open();
    await store.prepare([notes]);
    const longestTurns: number[] = [];
    for (let time = 0; time < 3; time += 1) {
      const many = Array.from({ length: 8000 }, (_, index) =>
        insert(notes, `n${time}-${index}`, { title: `t${index}`, rank: index }),
      );
      longestTurns.push(await longestTurn(() => store.commit(scope, many)));
    }
    expectShortTurns(...longestTurns);
  });

  it('leaves nothing of removed documents in its files once it is idle', async () => {
    const store = await open();
    await store.prepare([notes]);
    const secret = 'a secret that must not stay on the disk';
    await store.commit(scope, [insert(notes, 'a', { title: secret, text: secret.repeat(500) })]);
    await store.commit(scope, [removeWhere(notes, { title: secret })]);
    const holders = async () => {
      const contents = await Promise.all([file, `${file}-wal`].map((path) => readFile(path)));
      return contents.filter((content) => content.includes(secret)).length;
    };
    await until('nothing of it is left', async () => (await holders()) === 0);
  });
});

/**
 * Permissions do not bind root, which tests in containers run as, so there the child is root without that privilege: another
 * user could not read a clone in a private folder.
 */
async function openUnprivileged(file: string): Promise<string> {
  const script = fileURLToPath(new URL('./testing/open-store.ts', import.meta.url));
  const bound = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : [];
  const [command = '', ...parameters] = [...bound, process.execPath, script, file];
  const child = spawn(command, parameters);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  await once(child, 'close');
  return output;
}
