import { expect } from 'chai';
import { boltStatements, httpRequests, mongodbCommands, natsRequests } from './request-readers.ts';

/** The names read from bytes that come one at a time, which must be those of all at once. */
function read(create: () => (piece: Buffer) => readonly string[], bytes: Buffer): readonly string[] {
  const reader = create();
  const names = [...bytes].flatMap((byte) => reader(Buffer.from([byte])));
  expect(create()(bytes)).to.deep.equal(names);
  return names;
}

/** An `OP_MSG` with a document of one text field. */
function mongodbMessage(command: string, collection: string): Buffer {
  const value = Buffer.from(`${collection}\0`);
  const size = Buffer.alloc(4);
  size.writeInt32LE(value.length);
  const document = Buffer.concat([Buffer.from([2]), Buffer.from(`${command}\0`), size, value, Buffer.from([0])]);
  const head = Buffer.alloc(25);
  head.writeInt32LE(head.length + document.length, 0);
  head.writeInt32LE(2013, 12);
  head.writeInt32LE(document.length + 4, 21);
  return Buffer.concat([head, document]);
}

function boltMessage(tag: number, text: string): Buffer {
  const body = Buffer.concat([Buffer.from([0xb1, tag, 0xd0, text.length]), Buffer.from(text)]);
  return Buffer.concat([Buffer.from([0, body.length]), body, Buffer.from([0, 0])]);
}

describe('requests read from the wire', () => {
  it('are the commands of MongoDB, without the upkeep of its driver', () => {
    const bytes = Buffer.concat([mongodbMessage('hello', 'x'), mongodbMessage('find', 'jobs')]);
    expect(read(mongodbCommands, bytes)).to.deep.equal(['find jobs']);
  });

  it('are those of Elasticsearch, whose bodies are skipped', () => {
    const body = 'GET /inner HTTP/1.1\r\n\r\n';
    const post = `POST /index/_search?size=1 HTTP/1.1\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const bytes = Buffer.from(`${post}GET / HTTP/1.1\r\n\r\nGET /index/_refresh HTTP/1.1\r\n\r\n`);
    expect(read(httpRequests, bytes)).to.deep.equal(['POST _search', 'GET _refresh']);
  });

  it('are what is published over NATS, without answers and acknowledgements', () => {
    const lines = [
      'CONNECT {}',
      'HPUB p.auth.Get _INBOX.1 4 9',
      'PUB q\r\n..',
      'PUB _INBOX.7 2',
      'ok',
      'PUB $JS.ACK.a 0',
      '',
    ];
    expect(read(natsRequests('p'), Buffer.from(`${lines.join('\r\n')}\r\n`))).to.deep.equal(['auth.Get']);
  });

  it('are the statements of Neo4j, after either way to agree on a version', () => {
    const greeting = Buffer.alloc(20, 1);
    const messages = Buffer.concat([boltMessage(0x01, 'hello'), boltMessage(0x10, 'MATCH  (n)\n RETURN n')]);
    for (const manifest of [[], [0, 0, 8, 5, 0]]) {
      const bytes = Buffer.concat([greeting, Buffer.from(manifest), messages]);
      expect(read(boltStatements, bytes)).to.deep.equal(['MATCH (n) RETURN n']);
    }
  });
});
