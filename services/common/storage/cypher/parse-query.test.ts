import { expect } from 'chai';
import { expectQuick, threadCpuTimeMs } from '../../../../test/support/cpu-time.ts';
import { parseQuery } from './parse-query.ts';

const refusal = (query: string): string => {
  try {
    parseQuery(query);
    return 'read';
  } catch (error) {
    return (error as Error).name;
  }
};

describe('parseQuery', () => {
  it('refuses statements that write, and unknown ones', () => {
    const refused = [
      '',
      'MATCH (n)',
      'CREATE (n) RETURN n',
      'MATCH (n) SET n.x = 1 RETURN n',
      'MATCH (n) DETACH DELETE n',
      'MATCH (n) REMOVE n.x RETURN n',
      'MERGE (n:A) RETURN n',
      'MATCH (n) FOREACH (x IN [1] | SET n.x = x) RETURN n',
      'LOAD CSV FROM "file:///etc/passwd" AS row RETURN row',
      'CALL db.labels()',
      'CALL db.labels() YIELD label RETURN label',
      'MATCH (n) CALL { MATCH (m) RETURN m } RETURN m',
      'MATCH (n) CALL (n) { RETURN 1 AS x } RETURN x',
      'USE system MATCH (n) RETURN n',
      'USE graph.byName("neo4j") MATCH (n) RETURN n',
      'SHOW DATABASES',
      'TERMINATE TRANSACTIONS "x"',
      'EXPLAIN MATCH (n) RETURN n',
      'PROFILE MATCH (n) RETURN n',
      'CYPHER 25 MATCH (n) RETURN n',
      'CYPHER runtime=slotted MATCH (n) RETURN n',
      'MATCH (n) RETURN n; MATCH (n) RETURN n',
      'MATCH (n) USING INDEX n:__Node__(_ref) RETURN n',
      'MATCH (n) WHERE id(n) = 1 RETURN n',
      "MATCH (n) WHERE elementId(n) = '4:x:1' RETURN n",
      'MATCH (n:$("Other")) RETURN n',
      'MATCH (n:$any($l)) RETURN n',
      'MATCH (n) WHERE n.x = $p RETURN n',
      'MATCH ((a)-[r]->(b)){1,3} RETURN a',
      'MATCH (a)-[r]->+(b) RETURN a',
      'MATCH SHORTEST 1 (a)-->*(b) RETURN a',
      'MATCH (n) RETURN apoc.text.join(["a"], "b")',
      'RETURN db.nameFromElementId("x")',
      'MATCH (n) RETURN COLLECT { MATCH (m) RETURN m }',
      'RETURN reduce(s = "x", i IN range(1, 40) | s + s)',
      'RETURN replace("xx", "x", "xx")',
      'RETURN range(1, 1000000000)',
      'RETURN range(1, toInteger("1000000000"))',
      'RETURN [x IN range(1, 900) | [y IN range(1, 900) | 1]]',
      `RETURN ${'1 + '.repeat(13)}1`,
      "MATCH (n) WHERE n.name =~ '(a+)+$' RETURN n",
      "MATCH (n) WHERE n.name =~ '(a|a)(a|a)(a|a)(a|a)' RETURN n",
      "MATCH (n) WHERE n.name =~ 'a*a*a*a*' RETURN n",
      "MATCH (n) WHERE n.name =~ '([a]|a)*' RETURN n",
      'MATCH (n) WHERE n.name =~ n.name RETURN n',
      "MATCH (n) WHERE n.name = '\\u0027 RETURN n",
      'MATCH (n:`A\\u0060`) RETURN n',
      'MATCH (n\\u0029) RETURN n',
      'MATCH (n) RETURN n.x AS `a\\u0060`',
      `RETURN ${'['.repeat(100)}${']'.repeat(100)}`,
      `RETURN '${'x'.repeat(20_000)}'`,
      'MATCH (n) WHERE n.name = 0x10 RETURN n',
      'WITH n.name RETURN 1',
      'FINISH',
      'MATCH (n) NEXT RETURN n',
      'LET x = 1 RETURN x',
      'INSERT (:A) RETURN 1',
    ];
    for (const query of refused) expect(refusal(query), query).to.equal('CypherRefusedError');
  });

  it('takes no long time over a query made to be read again and again', () => {
    const started = threadCpuTimeMs();
    const nested = `${'(a {x: '.repeat(30)}1${'})'.repeat(30)}`;
    expect(refusal(`RETURN ${nested}`)).to.be.oneOf(['CypherRefusedError', 'RangeError']);
    expectQuick(threadCpuTimeMs() - started, 1500);
  });

  it('lets regular expressions through that cost little', () => {
    for (const pattern of ['(?i).*ada.*', '[A-Z][a-z]+ Lovelace', '\\\\d+', '(Ada|Bob)', 'a?b']) {
      expect(refusal(`MATCH (n) WHERE n.name =~ '${pattern}' RETURN n`), pattern).to.equal('read');
    }
  });
});
