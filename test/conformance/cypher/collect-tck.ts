// Makes tck.jsonl of the feature files of the openCypher TCK: `node collect-tck.ts DIRECTORY`, where the jar org.opencypher:tck
// of Maven Central is unpacked. Keeps the text of the scenarios that apply; of the others their names with the reason.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseQuery } from '../../../services/common/storage/cypher/parse-query.ts';
import type { Scenario, TckFeature } from './tck.ts';

const [directory = ''] = process.argv.slice(2);

function features(): readonly TckFeature[] {
  const root = join(directory, 'features');
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.feature'))
    .sort();
  return files.map((file) => {
    const feature = relative(root, join(root, file)).replace('.feature', '');
    const applies: Scenario[] = [];
    const leftOut: [string, string][] = [];
    for (const scenario of scenariosOf(readFileSync(join(root, file), 'utf8').replaceAll('\r', ''))) {
      const reason = reasonAgainst(feature, scenario);
      if (reason === null) applies.push(scenario);
      else leftOut.push([scenario.name, reason]);
    }
    return { feature, applies, leftOut };
  });
}

/** Why the embedded store cannot be asked this; null when it can. */
function reasonAgainst(feature: string, scenario: Scenario): string | null {
  const { query, given, graph, hasParameters, examples } = scenario;
  if (
    feature.includes('/temporal/') ||
    /\b(local)?time\(|duration\b/.test([query, ...given, ...examples.flat()].join())
  )
    return 'temporal values beyond dates and moments';
  if (/\b(CALL|YIELD)\b/i.test(query)) return 'procedures';
  if (/\b(CREATE|MERGE|DELETE|SET|REMOVE)\b/i.test(query.replaceAll(/'[^']*'|`[^`]*`/g, ''))) return 'writes';
  if (hasParameters) return 'parameters';
  if (graph !== null) return 'a graph that the TCK names and does not state';
  if (
    given.some((text) =>
      /\b(MERGE|DELETE|SET|REMOVE|FOREACH|WHERE|DISTINCT)\b|WITH (?!\*)|range\(\d+, ?\d{4}/.test(text),
    )
  )
    return 'a set-up that does more than CREATE';
  return scenario.error === null ? refusal(scenario) : null;
}

/** The guard's reason, which holds on Neo4j as well. */
function refusal({ query, examples }: Scenario): string | null {
  const [names = [], ...rows] = examples;
  for (const row of rows.length === 0 ? [[]] : rows) {
    const text = names.reduce((found, name, index) => found.replaceAll(`<${name}>`, row[index] ?? ''), query);
    try {
      parseQuery(text);
    } catch (error) {
      const { message } = error as Error;
      return /"[xo][0-9a-f]+"/i.test(message)
        ? 'guard: hexadecimal and octal numbers'
        : `guard: ${message.replace(/at letter \d+: /, '')}`;
    }
  }
  return null;
}

function scenariosOf(text: string): readonly Scenario[] {
  const [head = '', ...blocks] = text.split(/^ {2}(?:@\w+\s+)?Scenario(?: Outline)?: /m);
  const background = /^ {2}Background:\n([\s\S]*)/m.exec(head)?.[1] ?? '';
  return blocks.map((block) => {
    const [name = '', ...lines] = block.split('\n').filter((line) => !/^\s*#/.test(line));
    const steps = (background + lines.join('\n')).split(/^ {4}(?=(?:Given|When|Then|And|Examples)\b)/m).map(stepOf);
    const find = (pattern: RegExp) => steps.filter(({ title }) => pattern.test(title));
    const [outcome] = find(/^Then /);
    const title = outcome?.title ?? '';
    return {
      name: name.trim(),
      given: find(/having executed/).flatMap(({ doc }) => doc),
      graph: find(/^Given the .* graph/)[0]?.title.slice(10) ?? null,
      hasParameters: find(/parameters are|procedure/).length > 0,
      query: find(/executing query/)[0]?.doc[0] ?? '',
      rows: outcome?.table ?? [],
      isOrdered: title.includes('in order'),
      ignoresListOrder: title.includes('ignoring element order'),
      error: /an? (\w+) should be raised .*: (.*)/.exec(title)?.slice(1).join(' ') ?? null,
      examples: find(/^Examples/)[0]?.table ?? [],
    };
  });
}

function stepOf(text: string) {
  const [title = ''] = text.split('\n');
  const doc = [...text.matchAll(/"""\n([\s\S]*?)\n\s*"""/g)].map(([, found = '']) => found.replaceAll(/^ {6}/gm, ''));
  const table = [...text.replaceAll(/"""[\s\S]*?"""/g, '').matchAll(/^\s*\|(.*)\|\s*$/gm)].map(([, row = '']) =>
    row
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll(/\\([|\\n])/g, (_, sign) => (sign === 'n' ? '\n' : sign))),
  );
  return { title: title.trim(), doc, table };
}

const lines = features().map((feature) => JSON.stringify(feature));
writeFileSync(new URL('./tck.jsonl', import.meta.url), `${lines.join('\n')}\n`);
