import { expect } from 'chai';
import { translateQuery } from './print-query.ts';

const print = (query: string) => translateQuery(query, 'D_x', 10).statement;
describe('translateQuery', () => {
  it('binds every node to the dataset, wherever it stands', () => {
    const examples: Readonly<Record<string, string>> = {
      'MATCH (n) RETURN n': 'MATCH (`n`:`D_x`) RETURN `n` AS `n` LIMIT 11',
      'match (n:A|B:C {x: 1}) return n.name limit 3':
        'MATCH (`n`:`D_x`&(`A`|(`B`&`C`)) {`x`: 1}) RETURN `n`.`name` AS `n.name` LIMIT 3',
      'MATCH ()-[r:`is a`*1..3]->(:!A) RETURN count(*) AS c':
        'MATCH (:`D_x`)-[`r`:`is a`*1..3]->(:`D_x`&(!`A`)) RETURN count(*) AS `c` LIMIT 11',
      'MATCH p = shortestPath((a)-[*]-(b)), (c)<--(d WHERE d.x > 1) RETURN p':
        'MATCH `p` = shortestPath((`a`:`D_x`)-[*]-(`b`:`D_x`)), (`c`:`D_x`)<--(`d`:`D_x` WHERE (`d`.`x` > 1)) RETURN `p` AS `p` LIMIT 11',
      'MATCH (n) WHERE (n)-->(:B) AND EXISTS { (n)--(m) WHERE m.x = 2 } AND COUNT { MATCH (n)--() } > 1 RETURN n':
        'MATCH (`n`:`D_x`) WHERE (((`n`:`D_x`)-->(:`D_x`&(`B`)) AND EXISTS { MATCH (`n`:`D_x`)--(`m`:`D_x`) WHERE (`m`.`x` = 2) }) AND (COUNT { MATCH (`n`:`D_x`)--(:`D_x`) } > 1)) RETURN `n` AS `n` LIMIT 11',
      'MATCH (n) RETURN [(n)-->(m) WHERE m.x | m.y] AS l':
        'MATCH (`n`:`D_x`) RETURN [(`n`:`D_x`)-->(`m`:`D_x`) WHERE `m`.`x` | `m`.`y`] AS `l` LIMIT 11',
      'MATCH (n) RETURN n.x UNION ALL MATCH (n:B) RETURN n.x':
        'MATCH (`n`:`D_x`) RETURN `n`.`x` AS `n.x` LIMIT 11 UNION ALL MATCH (`n`:`D_x`&(`B`)) RETURN `n`.`x` AS `n.x` LIMIT 11',
    };
    for (const [query, printed] of Object.entries(examples)) expect(print(query)).to.equal(printed);
  });

  it('prints what was read: brackets, chains, and texts as parameters', () => {
    const query = "MATCH (n) WHERE NOT n.a + 1 * 2 < 3 <= n.b OR n.c STARTS WITH 'x\\'y' RETURN n.a /* why */ // end";
    const { statement, parameters, columns } = translateQuery(query, 'D_x', 10);
    expect(statement).to.equal(
      'MATCH (`n`:`D_x`) WHERE ((NOT ((`n`.`a` + (1 * 2)) < 3 <= `n`.`b`)) OR (`n`.`c` STARTS WITH $p0)) RETURN `n`.`a` AS `n.a` LIMIT 11',
    );
    expect(parameters).to.deep.equal({ p0: "x'y" });
    expect(columns).to.deep.equal(['n.a']);
  });

  it('never prints an expression that could be read as a pattern', () => {
    expect(print('MATCH (n),(m) WHERE (n:P) - [1, 2] = (m:P) RETURN 1')).to.contain(
      '(((true AND `n`:`P`) - [1, 2]) = (true AND `m`:`P`))',
    );
    expect(print('WITH 1 AS a, 2 AS b RETURN a - - b AS c')).to.contain('(`a` - (- `b`))');
  });

  it('keeps the smaller limit', () => {
    expect(print('RETURN 1 AS x SKIP 2 LIMIT 500')).to.equal('RETURN 1 AS `x` SKIP 2 LIMIT 11');
    expect(print('UNWIND [1, 2] AS x WITH x LIMIT 500 RETURN x LIMIT 1;')).to.equal(
      'UNWIND [1, 2] AS `x` WITH `x` LIMIT 500 RETURN `x` AS `x` LIMIT 1',
    );
  });
});
