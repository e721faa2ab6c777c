import { expect } from 'chai';
import { planLanes } from './lane-plan.ts';

const NONE = { hasSession: false, hasDatasets: false, hasType: false };
const lanesOf = (scope: readonly string[]) => planLanes(scope, NONE).lanes;

describe('recall lanes', () => {
  it('are the graph alone, unless a session is named and no type', () => {
    const graph = { lanes: ['graph'], sessionFirst: false };
    expect(planLanes(null, NONE)).to.deep.equal(graph);
    expect(planLanes(null, { ...NONE, hasDatasets: true })).to.deep.equal(graph);
    expect(planLanes(null, { ...NONE, hasSession: true, hasType: true })).to.deep.equal(graph);
  });

  it('are first the session when one is named, then the graph; always both when datasets are named', () => {
    const conditions = { ...NONE, hasSession: true };
    const lanes = ['session', 'graph'];
    for (const scope of [null, ['auto'], ['auto', 'auto']]) {
      expect(planLanes(scope, conditions)).to.deep.equal({ lanes, sessionFirst: true });
      expect(planLanes(scope, { ...conditions, hasDatasets: true })).to.deep.equal({ lanes, sessionFirst: false });
    }
  });

  it('run in the named order, each once, ignoring auto', () => {
    expect(lanesOf(['trace', 'graph_context', 'auto', 'graph', 'trace'])).to.deep.equal(['trace', 'graph']);
    expect(lanesOf(['session_context', 'session'])).to.deep.equal(['session_context', 'session']);
    expect(lanesOf([])).to.deep.equal([]);
  });

  it('of scope all are four, with tools only when named and never code', () => {
    expect(lanesOf(['all', 'code'])).to.deep.equal(['graph', 'session', 'trace', 'session_context']);
    expect(lanesOf(['tools', 'all'])).to.include('tools');
  });

  it('of session_first are the session, then the graph and the other named lanes', () => {
    const plan = (scope: readonly string[]) => planLanes(scope, NONE);
    expect(plan(['session_first'])).to.deep.equal({ lanes: ['session', 'graph'], sessionFirst: true });
    expect(plan(['trace', 'session_first'])).to.deep.equal({
      lanes: ['session', 'graph', 'trace'],
      sessionFirst: true,
    });
    expect(plan(['graph', 'session_first']).lanes).to.deep.equal(['session', 'graph']);
    expect(plan(['all', 'session_first'])).to.deep.equal({
      lanes: ['session', 'graph', 'trace', 'session_context'],
      sessionFirst: true,
    });
  });
});
