// Function words of questions by language, lower-case (see question-words.ts). Words that carry content stay out: times
// (hoy, heute), numbers, full verbs, adjectives.

/** Languages whose questions are known. Chinese has a list of its own, because it is written without spaces. */
export type QuestionLanguage = 'en' | 'de' | 'fr' | 'es' | 'zh';

export const FUNCTION_WORDS: Readonly<Record<Exclude<QuestionLanguage, 'zh'>, string>> = {
  // Without those that become another word in lower case and after stemming: us (US), mine (mining).
  en: `
    i me my myself we our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself it its itself they them their theirs themselves
    a an and are as at be but by for if in into is no not of on or such that the then there these this to was will with
    those what which who whom whose when where why how
    am been being were do does did doing have has had having can could shall should would may might must ought
    don't doesn't didn't isn't aren't wasn't weren't haven't hasn't hadn't can't couldn't wouldn't shouldn't won't
    i'd i'll i'm i've we'd we'll we're we've you'd you'll you're you've he'd he'll he's she'd she'll she's it'd it'll
    it's they'd they'll they're they've who'd who'll who's there'll there's what's where's when's how's that's let's`,
  de: `
    ich mich mir mein meine meinen meinem meiner meines du dich dir dein deine deinen deinem deiner deines
    er ihn ihm sein seine seinen seinem seiner seines sie ihr ihre ihren ihrem ihrer ihres ihnen es
    wir uns unser unsere unseren unserem unserer unseres euch euer eure euren eurem eurer man sich einander selbst
    was wer wen wem wessen wann wo wohin woher wie warum weshalb wieso wozu womit wofür woran worüber worauf wovon
    woraus wodurch wobei wonach welche welcher welches welchen welchem ob
    habe hast hat haben habt hatte hattest hatten hattet gehabt hab hätte hätten
    bin bist ist sind seid war warst waren gewesen wäre wären
    werde wirst wird werden werdet wurde wurdest wurden worden würde würdest würden
    kann kannst können könnt konnte konntest konnten könnte könntest könnten
    muss musst müssen müsst musste musstest mussten soll sollst sollen sollt sollte solltest sollten
    will willst wollen wollt wollte wolltest wollten darf darfst dürfen dürft durfte durften
    mag magst mögen möchte möchtest möchten tun tut tat tue
    der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner keines
    dieser diese dieses diesen diesem jener jene jenes jenen jenem
    und oder aber denn sondern als wenn weil dass daß damit obwohl während nachdem bevor bis seit
    von vom zu zum zur in im ins an am ans auf aufs aus bei beim mit nach vor hinter über unter neben zwischen
    durch für gegen ohne um wegen trotz noch schon auch nur nicht nichts sehr mehr so hier dort da dann doch mal ja
    etwas jemand eigentlich gerade bitte denn eben wohl`,
  fr: `
    je me moi mon ma mes mien mienne tu te toi ton ta tes tien tienne il elle on lui leur leurs se soi son sa ses
    nous notre nos vous votre vos ils elles eux y en j m t s c d l n qu jusqu lorsqu puisqu quelqu
    ce cet cette ces cela ça ceci celui celle ceux celles
    qui que quoi dont où quand comment pourquoi combien quel quelle quels quelles
    lequel laquelle lesquels lesquelles auquel duquel
    est es suis sommes êtes sont étais était étions étiez étaient fus fut furent été être serai sera serait
    ai as a avons avez ont avais avait avions aviez avaient eu avoir aurai aura aurais aurait
    fais fait faites font faire faisait dois doit devons devez doivent devais devait devions deviez devaient devrais devrait devrions dû
    peux peut pouvons pouvez peuvent pouvais pouvait pouvions pouviez pouvaient pourrais pourrait pourrions pourriez
    veux veut voulons voulez veulent voulais voulait voulions vouliez voulaient voudrais voudrait
    vais vas va allons allez vont allait
    le la les un une des du de au aux et ou mais donc or ni car si comme lorsque puisque parce pendant depuis
    avant après sur sous dans par pour sans avec chez entre vers contre ne pas jamais rien aucun aucune
    très aussi encore déjà ici là alors quelque quelques tout toute tous toutes`,
  es: `
    yo me mi mis mí mío mía míos mías tú tu tus te ti tuyo tuya él ella ello le lo se sí su sus suyo suya conmigo contigo
    nosotros nosotras nos nuestro nuestra nuestros nuestras vosotros vosotras os vuestro vuestra vuestros vuestras
    usted ustedes ellos ellas les
    qué que quién quien quiénes quienes cuál cual cuáles cuales cuándo cuando dónde donde adónde cómo como
    cuánto cuánta cuántos cuántas por porque para pues
    es soy eres somos son era eras éramos eran fui fuiste fue fuimos fueron ser sido sea
    está estoy estás estamos están estaba estabas estaban estuve estuvo estar estado
    he has ha hemos han había habías habían haber hay hubo haya
    tengo tienes tiene tenemos tienen tenía tuve tuvo tener
    hago haces hace hacemos hacen hacer hice hizo hiciste
    puedo puedes puede podemos pueden podía podías podíamos podían podría podrías podríamos podrían
    debo debes debe debemos deben debía debería deberías deberíamos deberían
    quiero quieres quiere queremos quieren quería querías queríamos querían quisiera voy vas va vamos van iba
    el la los las un una unos unas de del al a ante con contra desde en entre hacia hasta sin sobre
    y e o u ni pero sino si no ya también muy más tan aquí allí ahí
    este esta esto estos estas ese esa eso esos esas aquel aquella aquello aquellos aquellas
    algo alguien alguno alguna algún algunos algunas nada nadie ningún ninguno ninguna
    todo toda todos todas mismo misma otro otra otros otras`,
};

/** Words of these lists that are content in another language, English above all: they do not indicate a language. */
export const MEANT_ELSEWHERE: ReadonlySet<string> = new Set(
  `die man war was will in so an am bin hat hast den dem des mag tat da ja mal es um
   me on ma mes ton ta son sa ses sera a as or car si comment pour sur tout es est en y c d l m n s t
   mi no he has ha van sin son sea haya ante contra e o u se te ti tu`.split(/\s+/),
);

/** Simplified and traditional Chinese. */
export const HAN_FUNCTION_WORDS = `
  我 你 您 他 她 它 我们 我們 你们 你們 他们 他們 她们 她們 它们 它們 咱们 咱們 自己 大家
  什么 什麼 甚麼 谁 誰 哪 哪个 哪個 哪些 哪里 哪裡 哪裏 哪儿 哪兒 哪天 哪年 哪一天 哪一年 哪一个 哪一個 怎么 怎麼 怎么样 怎麼樣
  怎样 怎樣 如何 为什么 為什麼 为何 為何 多少 几 幾 几个 幾個 什么时候 什麼時候 何时 何時 什么样 什麼樣 是否 是不是 有没有 有沒有
  的 地 得 了 着 著 过 過 吗 嗎 呢 吧 啊 呀 嘛 么 麼
  是 在 有 和 与 與 及 或 或者 而 但 但是 因为 因為 所以 如果 就 都 也 还 還 又 很 太 更 最后 把 被 让 讓 给 給 对 對 对于 對於
  关于 關於 从 從 向 到 于 於 以 由 为 為 比 跟 同 用
  这 這 那 这个 這個 那个 那個 这些 這些 那些 这里 這裡 那里 那裡 这样 這樣 那样 那樣 某 某个 某個 每
  会 會 能 可以 可能 应该 應該 要 想要 必须 必須 得 不 没 沒 没有 沒有 不是 曾 曾经 曾經 已经 已經 正在 请 請 请问 請問
  个 個 一个 一個 一下 一些 之前 时候 時候 的话 的話`;
