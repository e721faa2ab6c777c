import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { createBudget } from '../../../services/common/storage/cypher/budget.ts';
import { parseQuery } from '../../../services/common/storage/cypher/parse-query.ts';
import { runQuery } from '../../../services/common/storage/cypher/run-query.ts';
import { cell, graphOf, runsOf, type Scenario, type TckFeature, written } from './tck.ts';

const features = readFileSync(new URL('./tck.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as TckFeature);

describe('openCypher TCK on the embedded graph', () => {
  for (const { feature, applies } of features) {
    if (applies.length === 0) continue;
    it(`${feature}: ${applies.length} scenarios`, () => {
      const failures = applies.flatMap(runsOf).flatMap((scenario) => failureOf(scenario) ?? []);
      expect(failures.join('\n\n')).to.equal('');
    });
  }
});

/** What is wrong; null when nothing is. */
function failureOf(scenario: Scenario): string | null {
  const [columns = [], ...rows] = scenario.rows;
  const expected =
    scenario.error ??
    tableOf(
      columns,
      rows.map((cells) => cells.map((text) => cell(text, scenario.ignoresListOrder))),
      scenario,
    );
  let found: string;
  try {
    const graph = graphOf(scenario.given);
    const result = runQuery(parseQuery(scenario.query), graph, createBudget(10_000), 1_000_000);
    found = tableOf(
      result.columns,
      result.rows.map((values) => values.map((value) => written(value, scenario.ignoresListOrder))),
      scenario,
    );
  } catch (error) {
    found = `${(error as Error).name}: ${(error as Error).message}`;
    if (scenario.error !== null && error instanceof Error && ['CypherRefusedError', 'RangeError'].includes(error.name))
      return null;
  }
  return found === expected ? null : `${scenario.name}\n${scenario.query}\nexpected ${expected}\nfound ${found}`;
}

function tableOf(columns: readonly string[], rows: readonly (readonly string[])[], { isOrdered }: Scenario): string {
  if (rows.length === 0) return 'no rows';
  const names = columns.map((name) => name.replaceAll('`', ''));
  const order = names.map((_, at) => at).sort((a, b) => ((names[a] as string) < (names[b] as string) ? -1 : 1));
  const lines = rows.map((cells) => order.map((at) => cells[at]).join(' | '));
  return [order.map((at) => names[at]).join(' | '), ...(isOrdered ? lines : lines.sort())].join('\n');
}
