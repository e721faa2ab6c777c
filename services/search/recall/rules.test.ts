import { expect } from 'chai';
import { routedType, typeByRules } from '../types/choose-type.ts';

describe('routing of a recall without a type', () => {
  it('chooses CHUNKS without a model', () => {
    expect(routedType('"exact phrase"', { answers: false })).to.equal('CHUNKS');
  });

  it('uses the first matching rule', () => {
    expect(routedType('"exact phrase"', { answers: true })).to.equal('CHUNKS_LEXICAL');
    expect(routedType('what are our coding standards?', { answers: true })).to.equal('CODING_RULES');
    expect(routedType('What happened in 1999?', { answers: true })).to.equal('TEMPORAL');
    expect(routedType('What happened in May 1999?', { answers: true })).to.equal('TEMPORAL');
    expect(routedType('Why is the sky blue?', { answers: true })).to.equal('HYBRID_COMPLETION');
    expect(routedType('a "quoted" word', { answers: true })).to.equal('HYBRID_COMPLETION');
  });

  it('chooses a type that answers when an object of a schema is wanted, with and without a model', () => {
    for (const answers of [true, false]) {
      expect(routedType('"exact phrase"', { answers, inSchema: true })).to.equal('HYBRID_COMPLETION');
      expect(routedType('What happened in 1999?', { answers, inSchema: true })).to.equal('TEMPORAL');
    }
  });

  it('never chooses a type that is not offered, or one that runs a query', () => {
    const queries = [
      'MATCH (n) RETURN n',
      'Where is the function parse defined in the code?',
      'def main():',
      'SELECT 1',
      'cypher',
    ];
    for (const query of queries) {
      for (const answers of [true, false]) {
        expect(routedType(query, { answers })).to.be.oneOf(['CHUNKS', 'HYBRID_COMPLETION']);
      }
      expect(['CODE', 'CYPHER', 'NATURAL_LANGUAGE']).not.to.include(typeByRules(query, new Date('2026-11-27')));
    }
  });
});

describe('FEELING_LUCKY without a model', () => {
  it('chooses by what the question asks for', () => {
    const chosen = (query: string) => typeByRules(query, new Date('2026-11-27'));
    expect(chosen('"exact phrase"')).to.equal('CHUNKS_LEXICAL');
    expect(chosen('What are our coding conventions?')).to.equal('CODING_RULES');
    expect(chosen('Show me a report of the graph')).to.equal('GRAPH_REPORT');
    expect(chosen('Where did I study and who taught me chess?')).to.equal('GRAPH_COMPLETION_DECOMPOSITION');
    expect(chosen('What did I do in the year I moved to Berlin?')).to.equal('GRAPH_COMPLETION_COT');
    expect(chosen('How many marathons did I run?')).to.equal('BROAD');
    expect(chosen('Summarise what I learned about servers')).to.equal('GRAPH_SUMMARY_COMPLETION');
    expect(chosen('What happened in 2019?')).to.equal('TEMPORAL');
    expect(chosen('What happened last week?')).to.equal('TEMPORAL');
    expect(chosen('What is connected with Vienna?')).to.equal('GRAPH_COMPLETION_CONTEXT_EXTENSION');
    expect(chosen('Who taught me chess?')).to.equal('HYBRID_COMPLETION');
  });
});
