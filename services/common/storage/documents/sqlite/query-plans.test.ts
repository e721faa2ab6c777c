import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Collection, Filter } from '../../ports/document-store.ts';
import { rulesOf } from '../rules/collection-rules.ts';
import type { Reach } from '../rules/reach.ts';
import { joined, lookupTerms, term, whereTerm } from './filter-sql.ts';
import { migrate } from './migrations.ts';
import { prepareTables } from './prepare-tables.ts';
import { layoutOf } from './table-layout.ts';

type Row = { readonly state: string; readonly at: string };
const rows: Collection<Row> = {
  name: 'rows',
  level: 'dataset',
  indexes: [{ fields: ['at'] }, { fields: ['state', 'at'], wide: true }],
};

describe('query plans', () => {
  const layout = layoutOf(rulesOf(rows));
  let database: DatabaseSync;
  before(() => {
    database = new DatabaseSync(':memory:');
    migrate(database, { file: ':memory:', autoMigrate: true });
    prepareTables(database, [layout.rules]);
  });
  after(() => database.close());

  const planOf = ({ sql, parameters }: ReturnType<typeof joined>) =>
    database
      .prepare(
        `EXPLAIN QUERY PLAN SELECT "body" FROM "c_rows" WHERE ${sql} ORDER BY "id", "tenant", "dataset" LIMIT 10`,
      )
      .all(...parameters)
      .map(({ detail }) => String(detail))
      .join('; ');
  const plan = (reach: Reach, filter: Filter<JsonObject>) => planOf(whereTerm(layout, reach, filter));
  const tenant = { tenant: 't' };
  const dataset = { tenant: 't', dataset: 'd' };

  it('find ids by the ids, however wide the scope is', () => {
    const list = term('"id" IN (SELECT value FROM json_each(?))', '["a"]');
    expect(planOf(joined([list, ...lookupTerms(layout, tenant)]))).to.contain('i_rows.id_alone (id=?)');
    expect(plan(tenant, { id: 'a' })).to.contain('i_rows.id_alone (id=?)');
    expect(plan(tenant, { id: { in: ['a', 'b'] } })).to.contain('i_rows.id_alone (id=?)');
    expect(plan({}, { id: 'a' })).to.contain('i_rows.id_alone (id=?)');
    expect(plan(dataset, { id: 'a' })).to.contain('i_rows.id (tenant=? AND dataset=? AND id=?)');
  });

  it('sweep all tenants by a wide index', () => {
    expect(plan({}, { state: 'open', at: { lessThan: '2' } })).to.contain('i_rows.wide.state+at (f_state=? AND f_at>?');
  });

  it('stay within a dataset for its own queries', () => {
    expect(plan(dataset, { at: { lessThan: '2' } })).to.contain('i_rows.by.at (tenant=? AND dataset=? AND f_at>?');
  });
});
