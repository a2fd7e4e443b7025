// Well-known names of historical and fictional people, and places with names of people. Lower case, without accents.

/**
 * Whole names only. The law protects the living (recital 27 of the GDPR); the context decides whether a living person
 * has such a name. Common names are left out.
 */
const HISTORY = `
ada lovelace|charles babbage|alan turing|grace hopper|isaac newton|albert einstein|marie curie|pierre curie|charles darwin|
nikola tesla|thomas edison|galileo galilei|johannes kepler|nicolaus copernicus|tycho brahe|michael faraday|james clerk maxwell|
max planck|niels bohr|werner heisenberg|erwin schrodinger|paul dirac|enrico fermi|richard feynman|stephen hawking|carl sagan|
edwin hubble|louis pasteur|gregor mendel|alexander fleming|rosalind franklin|francis crick|linus pauling|dmitri mendeleev|
antoine lavoisier|blaise pascal|rene descartes|gottfried leibniz|gottfried wilhelm leibniz|leonhard euler|carl friedrich gauss|
bernhard riemann|henri poincare|david hilbert|emmy noether|kurt godel|john von neumann|claude shannon|norbert wiener|
alonzo church|edsger dijkstra|george boole|pierre de fermat|srinivasa ramanujan|paul erdos|katherine johnson|
alexander graham bell|samuel morse|guglielmo marconi|wernher von braun|orville wright|wilbur wright|henry ford|karl benz|
gottlieb daimler|rudolf diesel|alfred nobel|johannes gutenberg|leonardo da vinci|ernest rutherford|lise meitner|otto hahn|
robert oppenheimer|dennis ritchie|steve jobs|konrad zuse|hedy lamarr|dorothy vaughan|mary somerville|caroline herschel|
winston churchill|abraham lincoln|george washington|thomas jefferson|benjamin franklin|alexander hamilton|theodore roosevelt|
franklin roosevelt|franklin d. roosevelt|john f. kennedy|martin luther|martin luther king|nelson mandela|mahatma gandhi|
mohandas gandhi|jawaharlal nehru|indira gandhi|napoleon bonaparte|otto von bismarck|karl marx|friedrich engels|vladimir lenin|
joseph stalin|leon trotsky|adolf hitler|benito mussolini|charles de gaulle|margaret thatcher|ronald reagan|dwight eisenhower|
richard nixon|mikhail gorbachev|mao zedong|ho chi minh|che guevara|fidel castro|simon bolivar|julius caesar|marcus aurelius|
joan of arc|catherine the great|alexander the great|rosa parks|malcolm x|susan b. anthony|emmeline pankhurst|
florence nightingale|anne frank|rosa luxemburg|eleanor roosevelt|konrad adenauer|willy brandt|helmut kohl|genghis khan|
harriet tubman|frederick douglass|sojourner truth|marie antoinette|henry viii|queen victoria|
william shakespeare|charles dickens|mark twain|leo tolstoy|fyodor dostoevsky|anton chekhov|franz kafka|victor hugo|emile zola|
marcel proust|james joyce|virginia woolf|oscar wilde|george orwell|aldous huxley|ernest hemingway|edgar allan poe|
herman melville|emily dickinson|walt whitman|mary shelley|bram stoker|arthur conan doyle|agatha christie|lewis carroll|
hans christian andersen|johann wolfgang von goethe|friedrich schiller|thomas mann|hermann hesse|miguel de cervantes|
gabriel garcia marquez|pablo neruda|jorge luis borges|jules verne|isaac asimov|dante alighieri|
wolfgang amadeus mozart|ludwig van beethoven|johann sebastian bach|frederic chopin|franz schubert|johannes brahms|
richard wagner|giuseppe verdi|antonio vivaldi|claude debussy|igor stravinsky|sergei rachmaninoff|pyotr tchaikovsky|
louis armstrong|elvis presley|john lennon|freddie mercury|bob marley|marilyn monroe|charlie chaplin|audrey hepburn|
alfred hitchcock|walt disney|vincent van gogh|pablo picasso|claude monet|salvador dali|frida kahlo|andy warhol|
rembrandt van rijn|johannes vermeer|gustav klimt|edvard munch|henri matisse|paul cezanne|auguste rodin|coco chanel|
sigmund freud|carl jung|friedrich nietzsche|immanuel kant|jean-jacques rousseau|john stuart mill|ludwig wittgenstein|
bertrand russell|simone de beauvoir|jean-paul sartre|albert camus|hannah arendt|michel foucault|
christopher columbus|vasco da gama|ferdinand magellan|marco polo|neil armstrong|yuri gagarin|amelia earhart|
ernest shackleton|roald amundsen|charles lindbergh|edmund hillary|
sherlock holmes|harry potter|james bond|darth vader|luke skywalker|homer simpson|mickey mouse|donald duck|indiana jones|
peter pan|robin hood|anna karenina|don quixote|frodo baggins|ebenezer scrooge|dorian gray|santa claus
`;

/** Countries, states and cities whose names are also given names. */
const PLACES = `
jordan georgia chad israel india china florence paris sydney victoria virginia carolina charlotte savannah austin madison
jackson lincoln houston dallas denver phoenix orlando trinidad santiago valencia adelaide alexandria sofia lourdes chelsea
brooklyn kingston kenya mali angola dakota montana nevada cheyenne lima leon siena sienna verona milan vienna odessa petra
medina aurora eugene salem troy raleigh regina augusta helena pierre juneau ireland devon chester lancaster preston bristol
york berlin london asia europa salvador cordoba granada lorraine alma elena rio costa carmel melbourne kent clifton camden
`;

/** Neighbours of a place in a list of places; peoples and cities of `NOT_NAMES` count as well. */
const COUNTRIES = `
afghanistan albania algeria angola argentina armenia australia austria azerbaijan bahrain bangladesh belarus belgium belize benin
bhutan bolivia bosnia botswana brazil brunei bulgaria burundi cambodia cameroon canada chad chile china colombia congo croatia
cuba cyprus czechia denmark djibouti ecuador egypt eritrea estonia ethiopia fiji finland france gabon gambia georgia germany
ghana greece greenland grenada guatemala guinea guyana haiti honduras hungary iceland india indonesia iran iraq ireland israel
italy jamaica japan jordan kazakhstan kenya kosovo kuwait kyrgyzstan laos latvia lebanon lesotho liberia libya liechtenstein
lithuania luxembourg madagascar malawi malaysia maldives mali malta mauritania mauritius mexico moldova monaco mongolia
montenegro morocco mozambique myanmar namibia nepal netherlands nicaragua niger nigeria norway oman pakistan palestine panama
paraguay peru philippines poland portugal qatar romania russia rwanda samoa senegal serbia singapore slovakia slovenia somalia
spain sudan suriname sweden switzerland syria taiwan tajikistan tanzania thailand togo tonga trinidad tunisia turkey
turkmenistan tuvalu uganda ukraine uruguay uzbekistan vanuatu venezuela vietnam yemen zambia zimbabwe
`;

const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/).filter(Boolean));

export const FIGURES: ReadonlySet<string> = new Set(HISTORY.split('|').map((name) => name.trim()));
export const PLACES_TOO = words(PLACES);
export const COUNTRY_NAMES = words(COUNTRIES);
