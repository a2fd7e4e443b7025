// Capitalised words that are not names of persons: beginnings of sentences, days, places, peoples, companies, things.
// Lower case.

const WORDS = `
a about above after again all also although always among an and another any are around as at because been before being
below between both but by can could did do does during each either every few for found from get give given had has have
he hello her here hers hey hi him his how however i i'm i've i'll i'd if in into is it its it's just last let let's like
made make many may maybe me meanwhile might more most must my near need never new next no none nor not nothing now of off
often on once one only open or other our ours out over own perhaps please previous put said same say see send she should
since so some soon still such sure take tell text than thank thanks that the their theirs them then there these they this
those though through thus to today together tomorrow tonight too two three four five six seven eight nine ten under until
up upon us use used user users very via was we well were what when where whether which while who whom whose why will with
within without would yes yesterday yet you your yours yourself
call contact email mail phone ask dear best kind regards sincerely cheers greetings signed attached ship write visit
call ring fax date order invoice flight release version section chapter page room part bug ticket product model commit
card account number name names patient client customer employee student doctor nurse teacher professor boss manager
sister brother mother father wife husband son daughter uncle aunt cousin friend colleague neighbour neighbor landlord
grandma grandpa mum mom dad grandmother grandfather baby nephew niece fiancé fiancée partner roommate flatmate
monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october
november december spring summer autumn winter christmas easter ramadan diwali hanukkah halloween thanksgiving
mon tue tues wed thu thur thurs fri sat
mr mrs ms miss mx dr prof professor sir madam lady lord dame rev father sister captain colonel sergeant officer judge
herr frau señor señora señorita sr sra srta don doña monsieur madame mademoiselle mme mlle signor signora signore dott
ing dhr mevrouw pan pani senhor senhora
english german french spanish italian portuguese dutch polish russian ukrainian turkish arabic hebrew hindi chinese
japanese korean vietnamese thai swedish norwegian danish finnish greek czech slovak hungarian romanian bulgarian serbian
croatian american british canadian australian indian african asian european mexican brazilian irish scottish welsh swiss
austrian belgian latin catholic christian muslim jewish buddhist hindu protestant orthodox
america american britain england scotland wales ireland germany france spain italy portugal netherlands belgium poland
russia ukraine turkey egypt nigeria kenya ghana africa asia europe india china japan korea vietnam thailand sweden norway
denmark finland greece canada mexico brazil argentina chile peru colombia australia austria switzerland iran iraq syria
london paris berlin munich münchen hamburg vienna wien rome roma milan milano torino madrid barcelona lisbon lisboa porto
amsterdam brussels dublin edinburgh boston chicago houston dallas denver seattle portland miami detroit atlanta phoenix
philadelphia toronto montreal vancouver sydney melbourne tokyo osaka kyoto beijing shanghai seoul busan mumbai delhi pune
bangalore chennai lagos nairobi cairo alexandria istanbul ankara moscow kyiv warsaw prague budapest athens aarhus oslo
stockholm helsinki copenhagen zurich geneva lyon nantes marseille bordeaux springfield tulsa austin orlando
san santa saint st los las el la le new north south east west northern southern eastern western central lake mount fort
port cape great big grand upper lower united republic
google amazon microsoft apple facebook meta netflix twitter uber airbnb slack zoom github gitlab docker kubernetes linux
windows macos android ios ubuntu debian redis kafka postgres mysql python java javascript typescript node react angular
vue django flask spring rust go ruby swift kotlin visa mastercard amex paypal stripe nasa nato un eu uk usa us fbi cia
who ceo cto cfo hr it ai api sdk cpu gpu ram ssd usb wifi wi-fi mac pc tv id pin otp ssn dob iban isbn vin imei url ip vat
http https sha sha1 sha256 md5 rsa jwt sql json xml html css pdf csv
bible quran olympics oscar nobel grammy marathon parliament congress senate government president minister king queen
prince princess pope emperor god allah jesus buddha internet web bluetooth
alexa siri cortana tesla toyota honda ford bmw audi volkswagen nike adidas ikea lego samsung sony
passport password postcode zip born discharged admitted geburtsdatum kennzeichen kontonummer passwort telefon handy tel
mobile cell whatsapp fingerprint serial driver's license national social insurance security medical record member
medicare employee transfer bank login blocked authorization bearer token meine meinen mein ich meu minha mon ma mi mio il
elle vivo abito habite lives vive wohnt telefono teléfono móvil anschrift adresse address dirección rua calle via avenue
street road lane monsieur notary applicant winner contract office home museum train password temperature population price
meeting battery children latitude longitude monday's attorney lawyer detective agent president senator governor mayor coach chef artist author actor actress director producer
господин госпожа господину госпоже гражданин гражданка пан пані клиент κυριος κυρια κυριο κυριας κυριου
long-term short-term public hiring selection admissions recruiting sir/madam
`;

/** A capitalised run that contains or precedes one of these is a company, a place or a work. */
const THINGS = `
inc ltd llc gmbh ag plc corp corporation co company companies group holdings bank banks university college school institute
hospital clinic hotel hotels airport airline airlines airways motor motors post times journal tribune herald magazine
foundation museum library church cathedral mosque temple park parade river lake valley mountain beach island islands
county city town village district province state states street avenue road lane drive square bridge tower building house
center centre stadium station theater theatre academy agency association council committee court department ministry
office party union league cup championship award prize act law code festival game games show series film movie book novel
store shop market mall cloud services software systems technologies technology labs lab studio studios records music
revolution war treaty conference summit team club united fc project program programme partners capital ventures insurance
pharmacy foods brewery winery restaurant cafe bar pub lion tavern express network news radio television channel
fellowship scholarship lecture medal theorem equation hypothesis conjecture hub cinema media gatsby potter rings cathedral ocean sea desert coast peninsula gulf bay
`;

const BRANDS = `
goldman sachs|morgan stanley|wells fargo|jp morgan|johnson johnson|procter gamble|ernst young|charles schwab|louis vuitton|
calvin klein|ralph lauren|hugo boss|tommy hilfiger|harley davidson|rolls royce|aston martin|mercedes benz|warner bros|
estee lauder|levi strauss|jack daniels|johnnie walker|jim beam|dow jones|standard poor|merrill lynch|lehman brothers|
marks spencer|ben jerry|dr pepper|mary kay|victoria secret|kate spade|michael kors|yves rocher|santa claus|uncle sam|
hong kong|new york|los angeles|san francisco|santa clara|sao paulo|rio grande|buenos aires|tel aviv|abu dhabi|kuala lumpur|
ho chi minh city|st petersburg|john deere|jack wolfskin|helly hansen|vera wang|vera bradley|laura ashley|laura mercier|elizabeth arden|
helena rubinstein|vidal sassoon|steve madden|kenneth cole|donna karan|perry ellis|tommy bahama|jimmy choo|christian dior|
giorgio armani|gianni versace|stella mccartney|tory burch|eddie bauer|betty crocker|oscar mayer|sara lee|captain morgan|
jose cuervo|elijah craig|carl zeiss|robert bosch|rand mcnally|sherwin williams|eli lilly|philip morris|johns hopkins|
thyssen krupp|dolce gabbana|papa john|papa johns|notre dame|buckingham palace|silicon valley|wall street|ruby rails|apache spark|visual studio
`;

const set = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/).filter(Boolean));

export const NOT_NAMES = set(WORDS);
export const THING_WORDS = set(THINGS);
export const BRAND_NAMES: ReadonlySet<string> = new Set(BRANDS.split('|').map((brand) => brand.trim()));
