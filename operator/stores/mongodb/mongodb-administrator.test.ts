import { expect } from 'chai';
import { urlFor, withoutUser } from './mongodb-administrator.ts';

describe('URL of a realm’s services for MongoDB', () => {
  const user = { name: 'engram_t1_a', password: 'p-1', database: 'engram_t1' };

  it('keeps servers and options with another user', () => {
    expect(urlFor('mongodb://root:p%40ss@a:1,b:2/admin?replicaSet=rs0&authSource=admin&tls=true', user)).to.equal(
      'mongodb://engram_t1_a:p-1@a:1,b:2/?replicaSet=rs0&tls=true&authSource=engram_t1',
    );
    expect(urlFor('mongodb+srv://root@cluster.test', user)).to.equal(
      'mongodb+srv://engram_t1_a:p-1@cluster.test/?authSource=engram_t1',
    );
  });

  it('contains no login of the administrator', () => {
    const url = 'mongodb://root:secret@a:1/?authMechanism=SCRAM-SHA-1&authSource=other&replicaSet=rs0';
    expect(withoutUser(url)).to.equal('mongodb://a:1/?replicaSet=rs0');
    expect(urlFor(url, user)).to.not.match(/secret|root|SCRAM|other/);
  });
});
