import { expect } from 'chai';
import { codeGraphOf } from '../../../../test/support/code-graph-of.ts';
import type { CodeGraph } from './code-graph.ts';
import { codeAnswer } from './code-question.ts';
import { answerFrom } from './code-search.ts';

const FILES: Readonly<Record<string, string>> = {
  'web/money.ts': `const CURRENCY = 'EUR';
function round(amount: number) { return Math.round(amount); }
function total(lines: number[]) { return round(lines.length); }
export { CURRENCY, total as totalOf };
export default round;`,
  'web/pay.ts': `import { totalOf } from './money';
import cents from './money';
import { send } from './events';
export function pay(lines: number[]) { send(totalOf(lines)); return cents(1); }`,
  'web/events.js': `function send(event) { log(event); }
function log(event) {}
module.exports = { send, close: () => log('end') };
exports.open = function () { return log('start'); };`,
  'web/trips.controller.ts': `import { Controller, Get, Post, Param } from '@nestjs/common';
import { TripsService } from './trips.service';
@Controller('trips')
export class TripsController implements OnModuleInit {
  constructor(private readonly trips: TripsService) {}
  @Get()
  all() { return this.trips.list(); }
  @Get(':id')
  one(@Param('id') id: string) { return this.trips.find(id); }
  @Post(['new', 'add'])
  add() {}
}
export class Loader { @Get('x') cached = 1; }`,
  'web/trips.service.ts': `export class TripsService {
  list() { return this.find('all'); }
  find(id: string) { return id; }
}`,
  'web/server.js': `const auth = require('./auth');
router.get('/health', auth, guard(async (request, response) => response.end()));
router.put('/jobs/:id', guard(update));
function update() {}`,
  'java/org/acme/BookController.java': `package org.acme;
@RestController("books")
@RequestMapping(path = "/books", produces = "application/json")
class BookController extends Base {
  @GetMapping("/{isbn}") Book one(@PathVariable String isbn) { return shelf.find(isbn); }
  @RequestMapping(value = "/{isbn}", method = {RequestMethod.PUT, RequestMethod.PATCH}) void change() {}
  @DeleteMapping void clear() {}
}`,
  'java/org/acme/Shelf.java': `package org.acme;
class Shelf { Book find(String isbn) { return null; } }`,
  'java/org/acme/Library.java': `package org.acme;
@Path("/library") class Library { @GET @Path("/{shelf}") public String show() { return ""; } }`,
  'py/api.py': `from py.rooms import book_room
router = APIRouter(prefix="/rooms")
@router.get("")
def rooms():
    return []
@router.post("/{room}")
def book(room):
    return book_room(room)`,
  'py/rooms.py': `__all__ = ["book_room"]
class Room(Base):
    pass
def book_room(room):
    return Room()`,
  'go/main.go': `package main
import "acme.org/shop/internal/queue"
type Sender interface { Send(to string) error }
type Mail struct{}
type Idle struct{}
func (m *Mail) Send(to string) error { return nil }
func (m *Mail) Close() {}
func main() {
	v1 := r.Group("/v1")
	v1.GET("/mails/:id", show)
	mux.HandleFunc("POST /mails", create(queue.New()))
}
func show() {}
func create(q int) func() { return nil }`,
  'go/internal/queue/queue.go': 'package queue\nfunc New() int { return 1 }',
};

describe('questions about code', () => {
  let graph: CodeGraph;
  before(async () => {
    graph = await codeGraphOf(FILES);
  });

  const answer = (question: string) => codeAnswer(graph, question)?.text ?? null;
  const asked = (question: string) => (answerFrom(graph, null, question) as { readonly answer: string }).answer;

  it('follow names through lists of exports, other names, defaults, CommonJS and __all__', () => {
    const place = '`total`, exported as `totalOf`, (function) is defined in web/money.ts:3.';
    expect(answer('Where is totalOf defined?')).to.equal(place);
    expect(answer('Where is total defined?')).to.equal(place);
    expect(answer('Who calls totalOf?')).to.include('is called by pay (web/pay.ts:4)');
    expect(answer('Who calls round?')).to.include('total (web/money.ts:3)').and.include('pay (web/pay.ts:4)');
    expect(answer('Who uses CURRENCY?')).to.include('nothing that is known');
    expect(answer('Who calls send?')).to.equal('`send` (function, web/events.js:1) is called by pay (web/pay.ts:4).');
    expect(answer('Where is open defined?')).to.equal('`open` (function) is defined in web/events.js:4.');
    expect(answer('Who calls book_room?')).to.include('is called by book (py/api.py:8)');
    expect(asked('Who calls totalOf?')).to.include('called by pay (web/pay.ts:4)');
  });

  it('find the handler of a route of NestJS, Spring, JAX-RS, FastAPI, Go and Express', () => {
    const handlers: readonly (readonly [string, string])[] = [
      [
        'Which handler serves GET /trips/:id?',
        '`GET /trips/:id` (route, web/trips.controller.ts:8) is handled by TripsController.one',
      ],
      ['What handles GET /trips?', 'TripsController.all'],
      ['Where is POST /trips/add handled?', 'TripsController.add'],
      ['Which method handles GET /books/42?', 'BookController.one'],
      ['What handles PATCH /books/{id}?', 'BookController.change'],
      ['What handles DELETE /books?', 'BookController.clear'],
      ['Which function serves GET /library/{name}?', 'Library.show'],
      ['What handles POST /rooms/{room}?', 'handled by book'],
      ['What handles GET /rooms?', 'handled by rooms'],
      ['What handles GET /v1/mails/:id?', 'handled by show'],
      ['What handles POST /mails?', 'handled by create'],
      ['What handles PUT /jobs/:id?', 'handled by update'],
      ['What handles GET /health?', 'handled by GET /health'],
    ];
    for (const [question, expected] of handlers) expect(answer(question), question).to.include(expected);
    expect(answer('What handles GET /nowhere?')).to.equal(null);
    expect(asked('Which handler serves DELETE /books?')).to.include('handled by BookController.clear');
  });

  it('list all routes, and take no decorator of another kind for one', () => {
    const routes = (answer('Which routes are there?') ?? '').split('\n');
    expect(routes).to.have.length(15);
    expect(routes).to.include(
      '`POST /trips/new` (web/trips.controller.ts:10) handled by TripsController.add (web/trips.controller.ts:10)',
    );
    expect(answer('List all endpoints')).to.equal(routes.join('\n'));
  });

  it('know what implements and extends a type, even one of a package, and in Go by its methods', () => {
    expect(answer('Who implements Sender?')).to.include('implemented or extended by Mail (go/main.go:4)');
    expect(answer('Which class implements OnModuleInit?')).to.include('TripsController (web/trips.controller.ts:4)');
    expect(answer('Which classes extend Base?')).to.include('BookController').and.include('Room (py/rooms.py:2)');
  });

  it('tell what a change breaks, what a class uses through its members, and what a file holds', () => {
    expect(answer('What breaks if I change round?')).to.equal(
      '`round` (function, web/money.ts:2) is used by pay (web/pay.ts:4), total (web/money.ts:3).',
    );
    expect(answer('What does TripsController call?')).to.include('TripsService.find').and.include('TripsService.list');
    expect(answer('What does BookController call?')).to.include('Shelf.find (');
    expect(answer('What methods does TripsService have?')).to.include('defines TripsService.find, TripsService.list');
    expect(answer('Which functions are in web/money.ts?')).to.include('defines round, total.');
    expect(answer('What imports go/internal/queue/queue.go?')).to.include('imported by go/main.go:2');
  });
});
