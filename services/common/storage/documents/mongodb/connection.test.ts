import { expect } from 'chai';
import { requireFit } from './connection.ts';
import { addressOf } from './mongodb-errors.ts';

describe('a MongoDB server', () => {
  it('of version 6.0 and newer with transactions is taken', () => {
    for (const version of ['6.0.0', '7.0.14', '8.2.1', '10.0.0']) {
      expect(() => requireFit({ version, hasTransactions: true }, 'host:1')).to.not.throw();
    }
  });

  it('that is too old or no replica set is refused with what to do', () => {
    expect(() => requireFit({ version: '5.0.31', hasTransactions: true }, 'host:1')).to.throw(
      /host:1 has version 5\.0\.31: version 6\.0 or newer/,
    );
    expect(() => requireFit({ version: '6.0.5', hasTransactions: false }, 'host:1')).to.throw(/--replSet/);
  });

  it('is named without its credentials', () => {
    expect(addressOf('mongodb://a,b:2/db?replicaSet=x')).to.equal('a,b:2');
    expect(addressOf('mongodb+srv://user:p%40ss@cluster.example/')).to.equal('cluster.example');
    expect(addressOf('mongodb://user:p@ss@host:1')).to.equal('host:1');
    expect(addressOf('postgres://user:secret@host')).to.not.contain('secret');
  });
});
