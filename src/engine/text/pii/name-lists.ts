// Given names of many cultures, and family names that are distinctive on their own. Lower case, without accents. A name
// that is also an everyday English word (`AMBIGUOUS`) counts only with further evidence of a person.

const GIVEN = `
aaron abigail adam addison adrian adriana agatha agnes aidan aileen alan albert alec alejandra alejandro alex alexa
alexander alexandra alexis alfred alice alicia alison allison alma alvin alyssa amanda amber amelia amy ana anastasia
andre andrea andreas andrew andy angela angelica angelina anita ann anna annabelle anne annette annie anthony antoine
antonia antonio april ariana arthur ashley audrey austin ava barbara beatrice becky ben benjamin bernadette bernard beth
bethany betty beverly bianca bill billy blake bob bobby bonnie brad bradley brandon brenda brendan brett brian bridget
brittany brooke bruce bruno bryan caitlin caleb calvin cameron camila carl carla carlos carmen carol carolina caroline
carolyn carrie cassandra catherine cathy cecilia celeste chad charles charlie charlotte chelsea cheryl chloe chris
christian christina christine christopher cindy claire clara clarissa claude claudia clifford clint cody colin colleen
connor constance cora corey courtney craig cristina crystal curtis cynthia daisy dale damian dan dana daniel daniela
danielle danny darren dave david dawn dean deborah debra denise dennis derek diana diane diego dolores dominic donald
donna dora doris dorothy doug douglas duncan dustin dylan earl ed eddie edgar edith edmund eduardo edward edwin eileen
elaine eleanor elena eliana elias elijah elisa elisabeth eliza elizabeth ella ellen elliot elsa elsie emily emma emmanuel
enrique eric erica erik erika erin ernest esteban esther ethan eugene eva evan eve evelyn fabian faith felicia felix
fernanda fernando fiona florence frances francesca francis francisco frank frankie fred frederick gabriel gabriela
gabrielle gail gareth gary gavin gemma geoffrey george georgia georgina gerald geraldine gerard gilbert gina giselle
gloria gordon grace graham grant greg gregory greta guillermo gustavo guy gwen hailey hannah harold harriet harrison harry
harvey heather hector heidi helen helena henrietta henry herbert hilary holly hope howard hugh hugo ian ida ignacio imogen
ines ingrid ira irene iris isaac isabel isabella isla ivan ivy jack jackie jackson jacob jacqueline jade jaime jake james
jamie jan jane janet janice jared jasmine jason javier jay jean jeff jeffrey jen jenna jennifer jenny jeremy jerome jerry
jesse jessica jill jim jimmy jo joan joanna joanne joaquin jocelyn jodie joe joel joey johanna john johnny jon jonah
jonathan jordan jorge jose joseph josephine josh joshua josie joy joyce juan juanita judith judy julia julian juliana
julie juliet justin karen karl kate katherine kathleen kathryn kathy katie katrina kay keith kelly kelsey ken kendra
kenneth kevin kieran kim kimberly kirsten kirsty kristen kristin kristina kurt kyle lance larry laura lauren laurence
lauretta leah leanne lee leila leo leon leonard leonardo leslie lewis liam lilian lillian lily linda lindsay lisa liz logan
lois lola loretta lori lorraine louis louisa louise lucas lucia lucille lucinda lucy luis luisa luke lydia lynn mabel
mackenzie madeleine madison maggie malcolm mandy manuel marc marcel marco marcus margaret margarita maria mariah marian
mariana marianne marie marilyn mario marion marjorie mark marlene marsha martha martin marvin mary mason mateo matilda
matt matthew maureen maurice max maxine may megan melanie melinda melissa mercedes meredith mia michael micheal michelle
miguel mike mildred miles millie miranda miriam mitchell molly monica monique morgan morris muriel nadia nancy naomi
natalia natalie natasha nathan nathaniel neil nelson nicholas nick nicolas nicole nigel nina noah noel nora norma norman
octavia oliver olivia oscar owen pablo paige pam pamela patricia patrick patty paul paula pauline pedro peggy penelope
penny percy pete peter phil philip phoebe phyllis pierce priscilla quentin rachel rafael ralph ramon randall randy raquel
raul ray raymond rebecca reggie reginald renee rex rhys ricardo richard rick ricky riley rita rob robert roberta roberto
robin rod rodney rodrigo roger roland ron ronald rory rosa rosalind rosanna rose rosemary ross rowan roxanne roy ruben
ruby rupert russell ruth ryan sabrina sally salvador sam samantha samuel sandra sandy santiago sara sarah saul savannah
scarlett scott sean sebastian selena serena sergio seth shane shannon sharon shaun shawn sheila shelley shirley sidney
sienna silvia simon simone sofia sonia sophia sophie stacey stan stanley stella stephanie stephen steve steven stuart sue
summer susan susanna susie suzanne sylvia tabitha tamara tammy tania tanya tara tatiana ted teresa terrence terry tess
tessa thelma theo theodore theresa thomas tiffany tim timothy tina toby todd tom tommy tony tracey tracy travis trevor
tristan troy tyler valentina valerie vanessa vera vernon veronica vicky victor victoria vincent viola violet virginia
vivian wade wallace walter wanda warren wayne wendy wesley whitney wilbur will william willie winifred winston xavier
yolanda yvette yvonne zachary zara zoe
jamal malik tyrone latoya keisha darnell deshawn lamar aaliyah shanice tamika jermaine darius terrell imani ebony
jürgen juergen jurgen günter gunter günther wolfgang klaus hans heinz helmut horst dieter manfred gerhard werner uwe jens
jörg jorg joerg torsten thorsten sven stefan steffen matthias andreas markus tobias florian lukas maximilian moritz
sabine ursula petra monika renate brigitte gisela ingeborg helga karin christa birgit anja katja silke heike ulrike
ulrich annika lena lea jana franziska anneliese annelise lieselotte friedrich ludwig otto rainer reinhard rüdiger detlef
kai lothar gudrun hannelore elke margarete liesl katharina johannes sebastian mathias kerstin antje svenja
pierre jacques michel philippe nicolas francois françois jean luc laurent thierry pascal olivier didier gilles yves
guillaume mathieu matthieu julien sylvain antoine etienne étienne benoit benoît cedric cédric remi rémi thibault thibaut
baptiste bastien theo théo amelie amélie celine céline helene hélène elodie élodie aurelie aurélie camille manon lea léa
chloe chloé margaux mathilde clemence clémence sylvie brigitte isabelle nathalie veronique véronique dominique francoise
françoise genevieve geneviève solene solène anais anaïs ines inès oceane océane lucie fleur gaelle gaëlle
giovanni giuseppe guido dante luca lorenzo matteo alessandro francesco davide riccardo federico stefano paolo pietro giorgio salvatore
vincenzo antonella alessandra giulia chiara francesca martina silvia elisa ilaria valentina giovanna paola simona sara
donatella ornella raffaella massimo maurizio enzo fabrizio gianni gianluca luigi carlo umberto nicola emanuele
carmela concetta rosaria beatrice ludovica
josé jose juan carlos luis miguel angel ángel javier pablo alvaro álvaro ramiro ernesto ruben rubén oscar óscar andres
andrés tomas tomás joaquin joaquín ignacio gonzalo rodrigo emilio fernanda lucia lucía maria maría pilar mercedes
montserrat rocio rocío dolores consuelo guadalupe esperanza ximena jimena catalina valeria mariana paloma soledad ines inés
jesus jesús cesar césar hernan hernán maricarmen itzel citlali xochitl
joao joão paulo tiago thiago gustavo rafael felipe bruno caio vitor vítor goncalo gonçalo duarte diogo nuno rui henrique
larissa leticia letícia beatriz mariana juliana fernanda camila tatiana luciana renata thais thaís patricia patrícia
raimundo inacio inácio conceicao conceição fatima fátima
jan pieter kees joost maarten sander bram daan sem thijs willem hendrik jeroen ruud wouter anneke marieke femke sanne
lotte fleur roos maaike ingeborg els griet
lars erik bjorn björn anders johan magnus henrik mikael niklas fredrik gustaf gunnar olof stig torbjörn leif ingrid astrid
sigrid solveig freja freya linnea linnéa elin maja saga annika britta kerstin gunilla ulla signe maren kirsten mette bodil
lone soren søren jorgen jørgen rasmus mads kasper nikolaj kjell odd terje trond vidar hanne marit ragnhild silje tuva
eino matti juhani pekka jukka timo heikki antti mikko aino aleksi anneli kaisa päivi paivi tuula riitta sirpa eero
sigurdur sigurður bjarni ragnar gudrun guðrún
katarzyna agnieszka malgorzata małgorzata joanna anna ewa barbara krystyna magdalena zofia jadwiga halina beata dorota
danuta iwona grzegorz krzysztof andrzej tomasz pawel paweł piotr michal michał marcin jakub mateusz lukasz łukasz
wojciech zbigniew stanislaw stanisław jerzy tadeusz maciej bartosz kacper kamil aleksandra natalia zuzanna oliwia
jana pavel petr tomas tomáš jiri jiří vaclav václav zdenek zdeněk ondrej ondřej milan jaroslav miroslav lubos
bozena božena marketa markéta zuzana katerina kateřina lenka hana veronika ludmila
bence laszlo lászló istvan istván zoltan zoltán attila gabor gábor ferenc sandor sándor tibor imre katalin ildiko ildikó
zsuzsanna eszter andras andrás balazs balázs agnes ágnes
bogdan radu mihai ion ioan andrei vlad florin gheorghe cristian ionut ionuț elena ioana mihaela alina simona raluca
adriana catalina monica
dragan zoran milos miloš nikola marko stefan aleksandar vladimir goran branko slobodan dusan dušan jelena milica ivana
marija tijana vesna snezana snežana luka ante josip tomislav zvonimir mirela jasmina emir amra senad
dimitar georgi ivaylo plamen stoyan boyko kalina desislava radka
ivan dmitri dmitry dmitrii sergei sergey alexei aleksei alexey mikhail nikolai nikolay vladimir viktor igor oleg pavel
yuri yury boris anatoly konstantin maxim maksim artem artyom kirill roman ruslan timur vadim vyacheslav gennady leonid
olga svetlana natalya natalia tatyana irina ekaterina yekaterina elena yelena anastasia marina galina lyudmila ludmila
nadezhda vera oksana polina darya daria ksenia yulia yuliya larisa tamara zoya
taras mykola oleksandr volodymyr andriy bohdan ostap yaroslav olena oksana kateryna halyna iryna natalka
nikos giorgos yorgos dimitris kostas konstantinos panagiotis yannis giannis vasilis christos spyros stavros eleni maria
katerina sofia dimitra georgia ioanna despina athina thanos
mehmet ahmet mustafa ali hasan hüseyin huseyin ibrahim murat emre burak cem kemal osman yusuf ömer omer serkan tolga
ayse ayşe fatma emine hatice zeynep elif merve esra büşra busra selin deniz defne pınar pinar gülsüm gulsum
mohammed muhammad mohamed mohammad ahmed mahmoud mustafa omar umar ali hassan hussein husain khalid khaled tariq tarek
youssef yousef yusuf ibrahim ismail abdullah abdul abdulrahman abdelrahman abdulaziz faisal saad saud sultan nasser
karim rashid samir sami walid waleed ziad bilal hamza anwar jamil nabil rami fadi bashar farid fuad hisham imad
fatima fatma aisha aysha khadija zainab zaynab maryam mariam layla leila noor nour hala rania dina huda hoda salma samira
yasmin yasmine jamila nadia amina amal iman rana reem lina hanan mona zahra soraya souad latifa naima houda ghada
reza hossein mehdi hamid saeed majid behrouz bijan cyrus dariush farhad kaveh navid omid parviz ramin siamak shirin
soheila parisa azadeh fereshteh mahsa nasrin roya laleh niloufar golnaz farzaneh mina
avi eitan moshe yitzhak yosef shlomo chaim yaakov dov menachem noam uri yael tamar shira rivka miriam chana devorah
ayelet tali hadar rotem orly
aarav abhishek aditi aditya ajay akash alok amit amrita anand ananya anil anita anjali ankit ankita anupama anushka arjun
arun arvind asha ashok ashwin bhavna chandra deepa deepak deepika dev devika dinesh divya gaurav gautam geeta girish
gopal hari harish indira ishaan jaya jyoti kamala karan kavita kavya kiran kishore krishna kumar lakshmi lalita madhav
madhuri mahesh manish manoj meena meera mohan mukesh nandini narendra naveen neha nikhil nisha nitin padma pankaj
parvati pooja prakash pranav prasad prashant pratibha praveen priya priyanka radha raghav rahul raj raja rajesh rajiv
rakesh ramesh rani ranjit rashmi ravi rekha ritu rohan rohit roshni sachin sandeep sangeeta sanjay sanjeev sarita satish
saurabh savita seema shanti shilpa shivani shreya shruti siddharth sita smita sneha sonal srinivas subhash sudha sunil
sunita suresh sushma swati tanvi tarun uday uma usha vandana varun venkatesh vidya vijay vikas vikram vinay vinod vivek
yash harpreet gurpreet jaspreet manpreet simran amarjit baljit gurdeep kuldeep navdeep
imran asif bilal farhan faisal hamid irfan junaid kamran nadeem naveed rizwan saima sana shahid shazia tahir usman waqas
zeeshan zubair ayesha bushra farah hina kiran mehwish rabia sadia tasneem
abdur rahim rafiq shakib tamim mushfiq nusrat farzana taslima sharmin anika
chaminda dilshan kumara lasith nuwan ruwan sanath thilini nadeesha dilini
bishnu hari ram sita binod pemba tenzin tsering dorje pasang karma sonam
nguyen tran thi minh anh hung tuan quang duc linh huong thao trang phuong lan mai hoa thanh hai nam khanh bao an
somchai somsak prasert suda malee siriporn nattaya kanya wichai anong chai
budi agus dewi siti sri rina wati putri bambang joko slamet nurul rizky rizki fitri indah ayu wayan made ketut yusof
aminah zulkifli azlan nurhaliza farid
jose maria juanito rosario imelda corazon ligaya jomar jejomar maricel analyn rodel
hiroshi takashi kenji akira satoshi yuki yuko keiko haruto haruka haruki sakura naoko tomoko michiko kazuko yoshiko emiko
aiko mariko daisuke kenta shota ryo ryota sota yuta takumi makoto shinji masato kazuya tatsuya hideo minoru isamu noboru
takeshi tetsuya ayumi mai rina misaki nanami asuka chiyo hana hikari rei ren hinata yui aoi
wei ming jing li na xin yan ying fang hui jun lei qiang tao yong bin peng bo chao feng gang hao jian jie kai liang long
ping qing rong shan wen xia xiang xiao xiaoming xue yi yu yuan yue yun zhen zhi mei meiling lihua guo hong hua lan
xiaoli jiahui yifan zihan haoran yuxuan mingze siu wing kwok chi
min-jun minjun ji-hoon jihoon seo-yeon seoyeon ji-woo jiwoo min-seo minseo hyun-woo hyunwoo soo-jin soojin eun-ji eunji
hye-jin hyejin dong-hyun donghyun sung-min sungmin young-ho youngho jae-hyun jaehyun yoon-ah min-ho minho ji-young
jiyoung kyung-soo
kwame kofi kwesi kojo yaw akosua abena ama adwoa efua esi akua nana nkrumah
adaobi chidi chukwuemeka chinedu chinua chiamaka chioma ngozi nkechi obinna emeka ifeoma amara adaeze uchenna ikechukwu kelechi obi
oluwaseun olumide oluwatobi babatunde ayodele adebayo adewale folake funmilayo titilayo yetunde temitope tunde segun
femi kehinde taiwo wale bola sade simisola damilola ayo dayo
aminu musa sani garba bello halima hadiza zainab
thabo sipho mandla bongani themba lindiwe nomvula nomsa thandiwe zanele nandi lerato palesa tshepo kagiso mpho naledi
lwazi siyabonga nkosana busisiwe ayanda andile sibusiso nthabiseng refilwe
wanjiru wangari njeri kamau mwangi otieno achieng akinyi odhiambo kipchoge chebet jelagat wambui nyambura kiprono auma
juma baraka neema zawadi rehema asha mwajuma hamisi
tendai tatenda chipo rudo farai tafadzwa nyasha rutendo tapiwa
abebe bekele tesfaye haile selam tigist almaz mekdes dawit yohannes girma meron hiwot
ousmane mamadou amadou ibrahima cheikh moussa fatou aminata mariama awa aissatou seydou boubacar salif modou khady
leilani kalani keanu makana malia nalani kekoa kaimana noelani kainoa
aroha hemi tane mere rangi wiremu hine kahu nikau tama moana sione mele tevita lupe siosaia talia
siobhan siobhán niamh aoife saoirse ciara sinead sinéad roisin róisín eoin oisin oisín cillian padraig pádraig seamus
seán tomás donal aisling orla maeve fionn conor declan eamon éamon brendan grainne gráinne deirdre
angharad rhiannon carys gethin dafydd ioan sian siân gwyneth ffion llewellyn
иван пётр петр сергей алексей александр дмитрий михаил николай владимир виктор игорь олег павел юрий борис анатолий
константин максим артём артем кирилл роман руслан тимур вадим вячеслав геннадий леонид андрей евгений илья денис антон
ольга светлана наталья наталия татьяна ирина екатерина елена анастасия марина галина людмила надежда вера оксана полина
дарья ксения юлия лариса тамара зоя анна мария валентина тарас микола олександр володимир андрій богдан олена катерина
γιώργος γιάννης κώστας δημήτρης νίκος παναγιώτης βασίλης χρήστος σπύρος ελένη μαρία κατερίνα σοφία δήμητρα ιωάννα
callum hamish angus ewan iain morag mhairi catriona eilidh fergus
`;

const FAMILY = `
smith johnson williams jones davis wilson anderson thompson garcia martinez robinson rodriguez lewis walker hernandez
lopez gonzalez nelson mitchell perez roberts turner phillips campbell evans edwards collins stewart sanchez morris rogers
murphy rivera cooper richardson ramirez watson brooks sanders bennett hughes myers sullivan jenkins gutierrez perry
powell patterson flores washington henderson simmons foster gonzales bryant alexander griffin diaz hayes ferguson
o'brien o'connor o'connell o'neill mccarthy macdonald mcdonald mackenzie fitzgerald gallagher doyle byrne kennedy
müller mueller muller schmidt schneider fischer weber meyer wagner becker schulz hoffmann schäfer schaefer koch bauer
richter klein schröder schroeder neumann schwarz zimmermann braun krüger krueger hofmann hartmann lange schmitt werner
krause lehmann köhler koehler huber kaiser fuchs vogel keller
martin bernard dubois thomas robert richard petit durand leroy moreau simon laurent lefebvre lefèvre michel garcia david
bertrand roux vincent fournier morel girard andre mercier dupont lambert bonnet francois martinez legrand garnier faure
rousseau blanc guerin muller henry roussel perrin chevalier
rossi russo ferrari esposito bianchi romano colombo ricci marino greco bruno gallo conti costa giordano mancini rizzo
lombardi moretti barbieri fontana santoro mariani rinaldi caruso ferrara galli martini leone
fernandez gomez martin jimenez ruiz alvarez moreno munoz muñoz alonso romero navarro torres dominguez vazquez ramos gil
serrano blanco molina morales suarez ortega delgado castro ortiz rubio marin sanz iglesias nunez núñez medina garrido
mendoza vargas castillo reyes quispe mamani huaman salazar aguilar chavez rojas herrera contreras espinoza ayala cabrera
silva santos oliveira souza sousa rodrigues ferreira alves pereira lima gomes ribeiro martins carvalho almeida lopes
soares vieira barbosa rocha dias nascimento andrade moreira marques cardoso teixeira
jansen bakker visser smit meijer mulder bos vos peters hendriks dekker dijkstra vermeer
nielsen hansen pedersen andersen christensen larsen sorensen sørensen rasmussen jorgensen jørgensen petersen madsen
kristensen olsen johansen berg haugen hagen eriksson nilsson larsson olsson persson svensson gustafsson pettersson jonsson
lindberg lindqvist lindström lindstrom bergström lundgren johansson karlsson virtanen korhonen mäkinen nieminen mäkelä
nowak kowalski kowalska wiśniewski wiśniewska wisniewska wójcik kowalczyk kamiński kamińska lewandowski zieliński
szymański woźniak dąbrowski kozłowski jankowski mazur kwiatkowski krawczyk novák novak novotný svoboda dvořák dvorak černý
procházka kučera horváth horvath kovács kovacs szabó szabo tóth nagy varga molnár popescu ionescu popa radu dumitru stan
petrović petrovic jovanović jovanovic nikolić marković đorđević horvat kovačević babić ivanov ivanova petrov petrova
smirnov smirnova kuznetsov kuznetsova popov popova sokolov sokolova lebedev kozlov novikov morozov volkov pavlov semenov
shevchenko kovalenko bondarenko tkachenko kravchenko oliynyk melnyk boyko
papadopoulos papadopoulou georgiou georgiadis nikolaidis dimitriou oikonomou vlachos
yılmaz yilmaz kaya demir çelik celik şahin sahin yıldız yildiz öztürk ozturk aydın aydin özdemir arslan doğan dogan kılıç
cohen levi levy mizrahi peretz biton friedman goldberg rosenberg shapiro katz
al-rashid al-farsi al-sayed hassan hussein haddad khoury nasser mansour farouk saleh qureshi khan malik sheikh siddiqui
chaudhry butt mirza rahman islam hossain ahmed chowdhury
hosseini ahmadi mohammadi rezaei karimi moradi jafari tehrani
sharma verma gupta singh kumar patel shah mehta reddy rao nair iyer iyengar menon pillai banerjee mukherjee chatterjee
ghosh bose das sen dutta mishra pandey tiwari yadav joshi desai kulkarni deshmukh patil kapoor khanna malhotra chopra
bhatia agarwal jain kaur gill dhillon sandhu venkataraman subramanian krishnan ramaswamy srinivasan raman
perera fernando silva jayawardena bandara wickramasinghe gurung tamang thapa shrestha sherpa
nguyen tran pham hoang huynh phan vu vo dang bui ngo duong
tanaka suzuki sato satō takahashi watanabe ito yamamoto nakamura kobayashi kato yoshida yamada sasaki yamaguchi matsumoto
inoue kimura hayashi shimizu saito mori abe ikeda hashimoto ishikawa ogawa okada fujita goto hasegawa murakami kondo
wang zhang chen liu yang huang zhao wu zhou xu zhu lin he guo luo gao zheng liang xie tang deng feng cao peng zeng xiao
tian dong pan yuan cai jiang yu du ye cheng wei lu ding ren shen yao lau leung cheung kwok chan wong lam ng
kim park lee choi jung kang cho yoon jang lim han shin kwon hwang ahn song hong
okafor okonkwo okoye adebayo adeyemi adeleke ogunleye balogun eze nwosu obi okeke nwachukwu abubakar ibrahim bello
иванов иванова петров петрова сидоров сидорова смирнов смирнова кузнецов кузнецова попов попова соколов соколова лебедев
козлов новиков морозов волков павлов семёнов шевченко коваленко бондаренко ткаченко кравченко παπαδόπουλος
mensah boateng owusu asante osei appiah agyeman amoah addo
dlamini nkosi khumalo ndlovu mokoena zulu mthembu mahlangu molefe sithole mkhize naidoo govender botha van-der-merwe
mwangi kamau otieno ochieng njoroge kimani kariuki wanjala kiptoo mutua moyo ncube sibanda chikwanha
diop ndiaye fall diallo traore traoré keita coulibaly toure touré camara sow cissé kone koné
tamihana kealoha kamaka
`;

const AMBIGUOUS_NAMES = `
montserrat april may june august summer autumn faith hope grace joy will mark rose ivy holly lily daisy violet ruby amber crystal
jade pearl iris dawn eve frank grant rob bill jack art drew chase chance miles rich pat sue dale dean earl guy jay lance
max penny ray rex rod roy ross sandy victor ward wade drew gene harry jean jordan georgia virginia florence paris sydney
austin charlotte madison savannah chelsea brooklyn victoria carolina alexandria israel china india kenya asia chad
mercedes christian pierce hunter mason carter parker cooper robin kay bo an na li yi yu he long ping fall cheng hai nam
hao bao lan mai min ren rei sky river sol angel star dolores pilar soledad consuelo rocio mina dev raj uma hari asha kiran
karma noor ali major king prince duke earl baron bishop case page dash win major christ jesus mai ama esi baraka ram sem
saga tuva lea els ion ante luka luna made sri ayu wing chi siu hong hua guo fang feng gang jian jie kai lei tao bin bo
peng jun yan ying hui xin wei qing rong shan wen xia yong yue yun zhen zhi liang hana sana reem rana amal sultan deniz cem
pinar fleur lotte tane rangi mere kahu tama moana hine obi nana ayo bola wale musa sade tess sol dan tim tom kim lee jan
jo ed ted al ken don sonny sunny buddy gail glen heath clay cliff reed stone wolf forest cash royal justice trinity
destiny harmony melody serenity genesis nevada montana dakota cheyenne phoenix orlando lourdes regina salvador santiago
trinidad cruz santos leon lima costa rica nancy angola mali jordan tara della isla misty stormy rusty dusty kitty candy
ginger cherry olive basil clove juniper sage rosemary hazel heather laurel linden aspen rowan ash willow maya java ruby
perl julia python scala swift kotlin elixir gem grace cody ada pascal crystal clair haskell chef puppet ansible jenkins
travis jasmine karma cypress ember vanilla jest selenium beta delta alpha gamma
`;

/** Lower case, without accents: the form in which names are compared. */
export function folded(name: string): string {
  return name
    .toLowerCase()
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/ø/g, 'o')
    .replace(/ł/g, 'l')
    .replace(/ı/g, 'i')
    .replace(/đ/g, 'd');
}

function setOf(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/).filter(Boolean).map(folded));
}

export const GIVEN_NAMES = setOf(GIVEN);
export const FAMILY_NAMES = setOf(FAMILY);
export const AMBIGUOUS = setOf(AMBIGUOUS_NAMES);
