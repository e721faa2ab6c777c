/**
 * Words and phrases that people use for the same thing when they ask about their own notes, where WordNet and word vectors do
 * not say so. One group a line; a group with a colon is a kind and its members. Irregular forms stand behind a slash, regular
 * ones follow from the lemma.
 */
export const EVERYDAY_GROUPS = `
babysit/babysat, look after, take care of, mind the children, care for, watch over, childminder, nanny
burgle, break/broke/broken into, rob, steal/stole/stolen, burglar, thief, theft, robbery, loot
attend, study, go to school, graduate, enrol, enroll, university, college, alma mater
study, learn/learned/learnt, train, degree, course, major in
qualify, pass the exam, certificate, diploma, degree, licence, license, exam, examination, test
teach/taught, teacher, instructor, tutor, coach, lesson, trainer, show/shown/showed, instruct
conduct, conductor, direct, lead/led, director
lead/led, head, run/ran, manage, chair, direct, boss, leader, manager, chief, supervisor
manage, responsible for, in charge of, look after, maintain, run/ran, own, administer
faint, pass out, collapse, unconscious, black out
vomit, throw/threw/thrown up, sick, nausea
injure, hurt, wound, break/broke/broken, sprain, fracture, accident, twist, tear/tore/torn, injury
heal, recover, cure, get better, rehabilitation, convalesce, recovery
treat, doctor, therapist, physiotherapist, physician, heal, cure, therapy, treatment, surgeon
operate, operation, surgery, surgical, remove, take out, implant
prescribe, medicine, medication, tablet, pill, drug, remedy, dose
ill, sick, ailment, illness, disease, sickness, condition, diagnosis, suffer, complaint
allergy, allergic, intolerance, intolerant, cannot eat, react to
cast, plaster, bandage, splint
hospital, clinic, infirmary, ward, surgery
pharmacy, chemist, drugstore, dispensary
die, death, pass away, deceased, late, funeral, bury buried
born, birth, give birth, arrive, newborn, deliver
marry, wed, wedding, marriage, tie the knot, bride, groom, husband, wife, spouse
propose, engagement, engaged, proposal, fiance, fiancee, ring
divorce, separate, split up, leave/left, break up, former husband, ex
partner, boyfriend, girlfriend, husband, wife, spouse, companion
sibling: brother, sister, twin
parent: mother, father, mum, dad, mom, mama, papa
mother, mum, mom, mama, mummy
father, dad, papa, daddy
child/children, kid, son, daughter, boy, girl, baby, toddler, offspring
grandparent, grandmother, grandfather, grandma, grandpa, granny, nana, gran, granddad
relative: relation, kin, uncle, aunt, cousin, nephew, niece, brother, sister, family
friend, pal, buddy, mate, companion, chum
neighbour, neighbor, next door, downstairs, upstairs, live beside
colleague, coworker, workmate, teammate
boss, manager, supervisor, chief, superior, employer
landlord, landlady, owner, rent
tenant, lodger, renter, rent, flatmate, roommate, housemate
meet/met, get to know, encounter, introduce, acquaint, run into
quarrel, argue, fight/fought, dispute, fall out, row, disagree, argument
persuade, talk into, convince, encourage
suggest, recommend, advise, propose, tip, advice
warn, alert, caution, alarm
promise, swear/swore/sworn, vow, pledge
forbid/forbade/forbidden, ban, prohibit, not allowed, refuse
allow, permit, let, permission
apologize, apologise, sorry, apology
thank, grateful, gratitude
fear, afraid of, scared of, frightened of, phobia, terrified, dread
hate, dislike, cannot stand, detest, loathe, least favourite
love, like, adore, enjoy, favourite, favorite, fond of, prefer
laugh, amuse, funny, joke, giggle
cry, weep/wept, tears, sob
hobby, pastime, leisure, free time, spare time, interest
pastime: knit, sew, paint, draw, swim, dance, sing, run, row, hike, garden, collect, juggle, fish, climb, cook, bake, chess
breed: labrador, collie, spaniel, poodle, terrier, retriever, shepherd, dachshund, beagle, husky, dalmatian, corgi, pug, greyhound, whippet, setter, schnauzer, rottweiler, bulldog, mastiff, puli, siamese, persian, tabby, moggy, merino, holstein, shetland, mongrel, crossbreed
sport: swim/swam, run, football, tennis, rowing, climbing, cycling, volleyball, badminton, judo, fencing, skiing, handball, marathon
collect, collection, gather, hoard
start, begin/began/begun, take up, launch, found/founded, set up
found, founder, establish, start, set up, create
stop, quit, give/gave/given up, end, cease, finish
finish, complete, end, done, conclude
quit, leave/left, resign, give notice, hand in, step down, terminate
terminate, cancel, end, give notice, call off, end the contract
postpone, delay, put off, reschedule, late, defer
cancel, call off, drop, scrap
pause, on hold, suspend, interrupt, put on ice, stall, halt, frozen, dormant
retire, pension, retirement, stop working, step down
hire, employ, take on, recruit, appoint, job, hired, employer
fire, dismiss, sack, lay/laid off
promote, promotion, become head, rise
replace, succeed, successor, take over, swap, exchange, switch, instead of
succeed, successor, take over, follow, replace
job, profession, occupation, trade, career, living, work as, employed, employment, vocation
profession: pilot, nurse, doctor, teacher, carpenter, engineer, baker, plumber, electrician, lawyer, driver, farmer, cook, fisherman, blacksmith, tailor, postman, dentist, mechanic, librarian, accountant, actor, actress, analyst, architect, artist, auditor, barber, barista, biologist, bookkeeper, bricklayer, broker, butcher, cashier, chef, chemist, cleaner, clerk, consultant, dancer, designer, developer, economist, editor, estate agent, firefighter, florist, gardener, hairdresser, jeweller, journalist, judge, lecturer, manager, midwife, musician, officer, optician, paramedic, pharmacist, photographer, physicist, physiotherapist, plasterer, potter, professor, programmer, psychologist, receptionist, researcher, roofer, sailor, scientist, secretary, singer, soldier, solicitor, surgeon, surveyor, teacher, technician, therapist, translator, vet, waiter, waitress, welder, worker, writer
earn, salary, wage, pay/paid, income, paid
salary, wage, pay/paid, income, earnings
pay/paid, cost, price, spend/spent, fee, charge
cost, price, pay/paid, spend/spent, buy/bought, euros, pounds, dollars, francs, crowns, expensive, fee, worth
rent, lease, hire, tenancy, let
buy/bought, purchase, acquire, get/got, shop, order
sell/sold, sale, seller, get rid of
give/gave/given, gift, present, hand, donate, bring/brought
gift, present, give/gave/given, birthday present, bring/brought
inherit, leave/left, bequeath, inheritance, heir, legacy, heirloom
borrow, lend/lent, loan, owe, debt
win/won, prize, award, first place, champion, victory, medal, trophy
lose/lost, defeat, beaten, come last
prize, award, medal, trophy, reward
lose/lost, misplace, missing, disappear, vanish, go missing
find/found, discover, detect, notice, spot, turn up, come across
hide/hid/hidden, stash, conceal, tuck
keep/kept, store, stored, put away, hold
throw/threw/thrown, toss, dispose, bin, discard, get rid of
move moved, relocate, settle, move house, move to
live, reside, home, dwell, inhabit, flat, house, apartment, address
stay, lodge, accommodation, overnight, sleep/slept, hotel, guest house, put up
accommodation: hotel, hostel, inn, guesthouse, pension, lodging, tent, cabin, hut
emigrate, move abroad, leave the country, immigrate, overseas, abroad
abroad, overseas, foreign, country, emigrate
come/came, originate, from, native, hail from, born
grow/grew/grown up, childhood, raise, brought up, upbringing
raise, breed/bred, keep/kept, rear, bring up, farm
visit, go to see, call on, drop by, come over, guest
travel, trip, journey, tour, go to, voyage, holiday, vacation, fly/flew
holiday, vacation, trip, journey, travel, getaway
trip, outing, excursion, journey, retreat, tour
fly/flew/flown, flight, plane, airline, aircraft, land
drive/drove/driven, driver, chauffeur, ride, steer, car, take
ride/rode/ridden, cycle, bike, bicycle, horse
walk, hike, stroll, ramble, trek, on foot
climb, ascend, summit, scale, mountain, peak, go up
sail, boat, ship, voyage, cruise, vessel
arrive, reach, come, get to, land
miss, late, too late
car, automobile, vehicle, auto
bicycle, bike, cycle, two-wheeler
train, railway, rail, railroad, station
tram, streetcar, trolley
van, truck, lorry, vehicle
crash, collide, accident, hit, drive into, collision
repair, fix, mend, patch, restore, get working, service
broken, break/broke down, out of order, defective, fail, faulty, damage
damage, destroy, ruin, wreck, break/broke/broken, harm
cause, reason, because, due to, lead to, trigger, blame
fail, failure, failed, not pass, unsuccessful
outage, downtime, down, crash, incident, failure, unavailable
bug, error, fault, defect, mistake, glitch
mistake, error, blunder, wrong, mix up
leak, drip, water, flood
flood, inundate, under water, deluge
fire, burn/burnt, blaze, flames, burn down
storm, gale, hurricane, tempest, typhoon, wind
disaster: flood, storm, earthquake, typhoon, hurricane, fire, tornado, avalanche, landslide
build/built, construct, put up, erect, make/made, builder
make/made, produce, create, craft, manufacture
design, designer, architect, plan, draw/drew/drawn
write/wrote/written, author, writer, pen
draw/drew/drawn, sketch, illustrate, drawing
paint, painter, colour, decorate, repaint
decorate, decoration, adorn, ornament
install, fit, set up, put in, mount, fitter, connect
renovate, refurbish, redo, modernise, rebuild, renew
renew, extend, replace, prolong
clean, wash, scrub, tidy, cleaner
cook, chef, prepare, make/made, bake, roast, fry, stew
bake, baker, cake, bread, oven
eat/ate/eaten, food, meal, dish, breakfast, lunch, dinner, supper, swallow, devour
dish, meal, food, course, recipe
drink/drank/drunk, beverage, sip, tea, coffee
beverage: coffee, tea, beer, wine, juice, lemonade, cider, water
dessert: sweet, pudding, cake, pie, tart
spice: herb, seasoning, clove, cinnamon, caraway, pepper, cumin, saffron, nutmeg, ginger
preserve, jam, jelly, marmalade, chutney, pickle
vegetarian, meat, vegan, plant-based
diet, food, eat/ate/eaten, nutrition
feed/fed, food, give/gave
plant, grow/grew/grown, sow, cultivate, garden, seed
crop: vegetable, fruit, bean, tomato, potato, harvest
pet: dog, cat, hamster, rabbit, parrot, budgie, tortoise, guinea pig, goldfish
adopt, take in, rescue, shelter, bring home
creature: animal, beast, pet, cat, dog, bird, insect
call, name, christen, known as, nickname, baptize
name, called, christen, title
nickname, called, known as, pet name
colour, color, hue, shade, tint, paint
hue: red, blue, green, yellow, orange, violet, purple, brown, grey, black, white
shape, form, round, square
size, big, large, dimension, measure, height, length
tall, high, height
heavy, weigh, weight, kilos
old, age, aged, years
often, frequency, every, times, regularly, weekly, daily, monthly
instrument: piano, violin, guitar, trombone, accordion, cello, flute, trumpet, drums, saxophone, clarinet, harp
music, song, tune, melody, band, concert
play, perform, performance, performer
concert, gig, show, performance
sing/sang/sung, singer, choir, vocal, song
choir, chorus, singers, ensemble
rehearse, practise, practice, rehearsal, train
audience, spectator, public, hall, crowd
film, movie, cinema, picture
photograph, photo, picture, snapshot, shoot, camera
book, novel, volume, read
reading group, book club, reading circle
letter, mail, post, envelope, write/wrote/written, postcard
phone, telephone, call, ring/rang rung, mobile
message, text, mail, notify, inform
tell/told, say/said, inform, report, mention
ask, request, enquire, inquire, question
answer, reply, respond, response
decide, agree, resolve, choose/chose/chosen, decision, vote
choose/chose/chosen, pick, select, opt for, choice
reject, turn down, refuse, decline, vote down
approve, accept, agree, sign off, pass
complain, complaint, grumble, moan, protest
sue, lawsuit, legal action, court, take to court, trial
police, officer, constable, cop
arrest, catch/caught, detain, captured
criminal, thief, burglar, robber, culprit, perpetrator
culprit, thief, blame, responsible, guilty
save, rescue, pull out, help
help, assist, support, aid, lend a hand, helper
protect, guard, shield, secure
secret, password, key, code, confidential
insure, insurance, policy, insurer, cover, compensate
bank, account, savings, money
savings, save, put aside, money
budget, funds, money, allowance, spend/spent
invoice, bill, receipt, charge
customer, client, buyer, account
supplier, vendor, provider, deliver
deadline, due, by, finish, deliver
launch, release, go live, come/came out, ship, publish, roll out
publish, come/came out, appear, print, release
deploy, release, roll out, ship, push
migrate, move, switch, transfer, migration, port
delete, remove, erase, drop, wipe
backup, back up, copy, restore
expire, run/ran out, end, lapse, valid until
increase, rise/rose/risen, grow/grew/grown, go up, raise, higher
decrease, fall/fell/fallen, drop, go down, reduce, shrink, lower
speed, fast, quick, latency, response time
slow, delay, sluggish, lag
ram, memory, main memory, working memory
hack, breach, attack, intrusion, break/broke in
vulnerability, security hole, flaw, weakness
developer, programmer, coder, engineer, write/wrote/written
contact, reach, phone, get in touch, liaison
author, writer, write/wrote/written, novelist, poet
guest, visitor, invite, invitee
invite, invitation, ask over
party, celebrate, celebration, feast, festivity
celebrate, party, anniversary, birthday, feast, festival
speech, talk, lecture, toast, address
meeting, conference, meet/met, session, gathering
attend, be present, come to, take part, participate
participate, take part, join, compete, enter
join, become a member, sign up, enter, enrol
member, belong, part of, join
volunteer, unpaid, help out, charity
donate, give/gave/given, charity, donation
vote, elect, election, ballot, poll
school, class, pupil, teacher, lesson
pupil, student, learner, schoolchild, trainee, apprentice
student, pupil, trainee, learner, apprentice
apprentice, trainee, training, apprenticeship
language: speak/spoke/spoken, french, spanish, italian, arabic, japanese, german, welsh, polish, portuguese, russian, turkish, swedish, dutch
subject, maths, mathematics, physics, history, biology, chemistry, geography, engineering, discipline
religion, faith, church, mosque, temple, synagogue
pray, prayer, church, worship
wear/wore/worn, dress, clothes, put on, garment
garment: coat, shirt, dress, jacket, scarf, jumper, trousers, hat, gloves, clothes, clothing
jewellery: ring, necklace, earring, bracelet, brooch
furniture: table, chair, cupboard, wardrobe, sofa, bed, desk, shelf
sofa, couch, settee
fridge, refrigerator, freezer, icebox
appliance: washing machine, dishwasher, dryer, fridge, oven, boiler
heating, heater, boiler, radiator, heat pump, stove, furnace
basement, cellar, vault
attic, loft, roof space
flat, apartment, rooms
garden, yard, allotment, plot
toilet, bathroom, loo, lavatory, restroom
lift, elevator
rubbish, trash, garbage, waste, bin
collect, pick up, take away, emptied, bin, recycling, refuse collection
pavement, sidewalk, path
luggage, suitcase, baggage, bag, rucksack, backpack
lawyer, attorney, solicitor, barrister, counsel
dentist, tooth, teeth, dental
vet, veterinarian, animal doctor
nurse, carer, caregiver
hairdresser, barber, haircut, cut
glasses, spectacles, optician, lenses
computer, laptop, notebook, machine
toy: rabbit, doll, teddy, cuddly, game, puzzle
game, chess, cards, play, match
beach, seaside, coast, sea, shore
mountain, peak, summit, hill
lake, pond, pool, water
river, stream, brook
forest, wood, woods
weather, rain, snow, sun, storm, wind
cold, chilly, freezing, freeze/froze/frozen
sleep/slept, nap, doze, bed
wake/woke woken, get/got up, rise/rose, alarm clock
dream/dreamt, nightmare, vision
smoke, cigarette, cigar, pipe, tobacco
bet, wager, gamble, stake
trick, secret, knack, technique
surprise, unexpected, astonish, suddenly
gather, assemble, come together, meet/met
bite/bit/bitten, sting/stung, nip, bitten
kick, hit, strike/struck, punch
fall/fell/fallen, tumble, slip, trip, plunge
jump, leap, dive, spring
carry, transport, bring/brought, take/took/taken, deliver
send/sent, mail, post, deliver, ship, dispatch
wait, queue, expect
remember, memory, memorise, recall, by heart
forget/forgot/forgotten, leave behind, slip the mind
hurry, rush, hasten
owner, own, belong, possess, have/had
hazard, danger, risk, peril, threat
discover, find/found, come across, turn up, hit upon
purse, wallet, handbag
timepiece, watch, clock
career, profession, job, calling, work as, become/became
snack, biscuit, sandwich, crisps, nuts, fruit
stationery: pen, pencil, envelope, paper, ink, notebook, card, cards, eraser, ruler
island, isle, archipelago
ferry, boat, ship, crossing
seafood: eel, fish, mussel, oyster, shrimp, prawn, lobster, crab, squid, herring, salmon
killer, murderer, assassin
kid, child, boy, girl, schoolboy, schoolgirl
attempt, try, go, time
bone: arm, leg, wrist, ankle, rib, finger, collarbone, elbow, toe, skull, shin
fracture, break/broke/broken, crack
resident, local, inhabitant, villager, citizen
gift: bottle, flowers, chocolate, jar, book, voucher
spot, see/saw/seen, notice, watch
collapse, fall apart, melt, cave in, break down
brand, make, manufacturer, maker, model
company, firm, business, employer, corporation
insurer, insurance, insure, policy
surface: ice, grass, gravel, sand, mud, concrete, floor
souvenir, keepsake, memento, reminder
supervisor, boss, supervise, adviser, advisor
ruin, destroy, spoil, cannot be saved, wreck
receive, get/got, given, obtain
newcomer, new employee, beginner, starter, new colleague
parking, park, space, garage
address, street, road, avenue, lane, live
birthday, born, birth, turn
title, called, name
composer, compose, music by, write/wrote/written
nationality, from, native, citizen, country
capital: london, paris, berlin, rome, madrid, vienna, lisbon, oslo
vehicle: car, van, truck, lorry, bus, tram, train, bicycle, bike, motorcycle, scooter
meal: breakfast, lunch, dinner, supper, brunch
season: spring, summer, autumn, winter
material: wood, oak, steel, stone, clay, glass, plastic, leather, wool, silk, cotton, brass, copper
tool: hammer, saw, knife, screwdriver, drill, axe, spade, chisel, pliers, wrench
vegetable: carrot, potato, tomato, leek, cabbage, bean, pea, onion, lettuce, spinach, beetroot, pumpkin
fruit: apple, pear, plum, cherry, quince, grape, fig, lemon, orange, peach, apricot, berry
tree: oak, apple, pear, birch, beech, pine, fir, walnut, lime, willow, maple, cherry
drink: coffee, tea, beer, wine, juice, lemonade, cider, water, milk, schnapps
`;
