import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { rulesOf } from '../rules/collection-rules.ts';
import { migrate } from './migrations.ts';
import { openForWriting } from './open-database.ts';
import { prepareTables } from './prepare-tables.ts';
import { type CommitContext, runCommits } from './run-commits.ts';
import { createStatementCache } from './statement-cache.ts';
import { createLayouts } from './table-layout.ts';
import type { EncodedCommit, EncodedWrite } from './write-protocol.ts';

describe('commits that share a transaction', () => {
  let directory: string;
  let database: DatabaseSync;
  let context: CommitContext;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'engram-commits-'));
    const file = join(directory, 'control.db');
    database = openForWriting(file);
    migrate(database, { file, autoMigrate: true });
    const rules = rulesOf({ name: 'notes', level: 'system', indexes: [{ fields: ['key'], unique: true }] });
    prepareTables(database, [rules]);
    const layouts = createLayouts();
    layouts.declare(rules);
    context = { database, file, layouts, statements: createStatementCache(database) };
  });
  afterEach(() => {
    database.close();
    rmSync(directory, { recursive: true });
  });
  const insertion = (id: string, key: string | null, text = ''): EncodedWrite => ({
    kind: 'insert',
    collection: 'notes',
    id,
    place: { tenant: null, dataset: null },
    body: JSON.stringify({ key, text }),
    values: [key],
  });
  const ids = () =>
    database
      .prepare('SELECT id FROM c_notes ORDER BY id')
      .all()
      .map(({ id }) => id);
  const run = (...commits: readonly EncodedCommit['writes'][]) => runCommits(context, commits);

  it('fail alone', () => {
    const outcomes = run([insertion('a', 'k')], [insertion('b', null), insertion('c', 'k')], [insertion('d', 'other')]);
    expect(outcomes).to.deep.equal([
      { results: [1] },
      { error: { kind: 'duplicate', collection: 'notes', index: ['key'] } },
      { results: [1] },
    ]);
    expect(ids()).to.deep.equal(['a', 'd']);
  });

  it('fail alone when the disk is full for one of them, with a message that says so', () => {
    run([insertion('a', null)]);
    const [pages] = database.prepare('PRAGMA page_count').all();
    database.exec(`PRAGMA max_page_count = ${Number(pages?.['page_count']) + 20}`);
    const large = 'x'.repeat(1_000_000);
    const [small, tooLarge, later] = run([insertion('b', null)], [insertion('c', null, large)], [insertion('d', null)]);
    expect([small, later]).to.deep.equal([{ results: [1] }, { results: [1] }]);
    expect(tooLarge).to.have.nested.property('error.name', 'ServiceUnavailableError');
    expect(tooLarge).to.have.nested.property('error.message').that.contains('full').and.contains(context.file);
    expect(ids()).to.deep.equal(['a', 'b', 'd']);
    database.exec('PRAGMA max_page_count = 1000000');
    expect(run([insertion('c', null, large)])).to.deep.equal([{ results: [1] }]);
  });

  it('name a collection that was not declared', () => {
    const unknown: EncodedWrite = { kind: 'removeWhere', collection: 'unknown', where: { sql: '1', parameters: [] } };
    const [outcome, other] = run([unknown], [insertion('a', null)]);
    expect(outcome).to.have.nested.property('error.message', 'collection unknown was not prepared');
    expect(other).to.deep.equal({ results: [1] });
  });
});
