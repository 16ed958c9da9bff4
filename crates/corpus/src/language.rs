//! The language of a text, from its script.

use bylaw_contract::Language;

/// Frequent characters that only simplified spelling has.
const SIMPLIFIED: &str = "们这国会发时务动员规则资劳工证书应须给请假岗职条为与业产学实际报处罚权责订单两个从众优体关兴养决况准则\
划刘别剧办务劝励劳势区协单卖卢卫厂历压县参双变叙号听启员响团园图圆圣场坏块坚坛坝坟坠垄备复够头夹夺奋奖妇妈孙宁宝实宠审宪宫宽宾对寻导寿将尔尘尝层属岁岛\
币师带帮干并广庄庆库应庙废开异弃张弹强归当录彻径忆态总恶悬惊惩惯愿戏战户扑执扩扫扬护报担拟择挂损换据掷摄摆击数断旧显晓晕暂权杀杂条来杨极构枪标样树桥检楼横\
欢欧残毁毕气汇汉沟没泽洁济浏测济温湾湿满滚灭灯灵灾炉点炼烟烦热爱牵独狱献环现玛电画疗监盖盘着矿码确碍礼离种积称税稳穷窃竞笔签简类粮级红纪约纯纲纳纸线练组\
细织终绍经结给络绝统继续维绿编缘缩网罗罢职联胜脑脚脱节范荐药获营蓝虑虽补装规觉览观触计认议记讲许论设访证评识诉词试话该详语误说请诸课谁调谈谢负财责败账货质\
贩购贯贵费贺资赏赔赖赛赞趋车转轮软轻载较辅辆辑输边达过运还进远违连迟适选递逻遗邮邻郑释里鉴针钟钱铁银错键锁长门闭问间闻阅队阳阶际陆险随隐难雾静项顺须顾预领频题额风飞饭饮马验鱼鸡麦黄齐龙";
/// Frequent characters that only traditional spelling has.
const TRADITIONAL: &str = "們這國會發時務動員規則資勞證書應須給請職條為與業產學實際報處罰權責訂單兩個從眾優體關興養決況準則劃別劇辦勸勵\
勢區協賣衛廠歷壓縣參雙變號聽啟響團園圖圓聖場壞塊堅備復夠頭夾奪奮獎婦媽孫寧寶寵審憲宮寬賓對尋導壽將爾塵嘗層屬歲島幣師帶幫廣莊慶庫廟廢開異棄張彈強歸當錄徹\
徑憶態總惡懸驚懲慣願戲戰戶執擴掃揚護擔擬擇掛損換據擲攝擺擊數斷舊顯曉暈暫殺雜來楊極構槍標樣樹橋檢樓橫歡歐殘毀畢氣匯漢溝沒澤潔濟測溫灣濕滿滾滅燈靈災爐點煉\
煙煩熱愛牽獨獄獻環現電畫療監蓋盤礦碼確礙禮離種積稱稅穩窮竊競筆簽簡類糧級紅紀約純綱納紙線練組細織終紹經結給絡絕統繼續維綠編緣縮網羅罷聯勝腦腳脫節範薦藥獲\
營藍慮雖補裝覺覽觀觸計認議記講許論設訪評識訴詞試話該詳語誤說諸課誰調談謝負財敗帳貨質販購貫貴費賀賞賠賴賽贊趨車轉輪軟輕載較輔輛輯輸邊達過運還進遠違連遲適選\
遞邏遺郵鄰鄭釋裡鑑針鐘錢鐵銀錯鍵鎖長門閉問間聞閱隊陽階陸險隨隱難霧靜項順顧預領頻題額風飛飯飲馬驗魚雞麥黃齊龍";
/// Characters looked at; the language does not change after the first pages.
const LOOKED_AT: usize = 20_000;

/// The language most of a text is written in.
pub(crate) fn of(text: &str) -> Language {
    let (mut chinese, mut letters, mut simplified, mut traditional) = (0_usize, 0_usize, 0_usize, 0_usize);
    let sets = scripts();
    for c in text.chars().filter(|c| c.is_alphabetic()).take(LOOKED_AT) {
        if !is_chinese(c) {
            letters += 1;
            continue;
        }
        chinese += 1;
        match sets.binary_search_by_key(&c, |(character, _)| *character).map(|at| sets[at].1) {
            Ok(true) => simplified += 1,
            Ok(false) => traditional += 1,
            Err(_) => {}
        }
    }
    // A Chinese character is about as much text as two letters of an English word.
    if letters > chinese * 2 {
        Language::English
    } else if simplified > traditional {
        Language::SimplifiedChinese
    } else {
        Language::TraditionalChinese
    }
}

/// Whether a character belongs to Chinese script.
pub(crate) const fn is_chinese(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}' | '〇')
}

/// Characters of one spelling alone, sorted, with whether it is the simplified one.
fn scripts() -> &'static [(char, bool)] {
    static SCRIPTS: std::sync::LazyLock<Vec<(char, bool)>> = std::sync::LazyLock::new(|| {
        let mut sets: Vec<(char, bool)> = SIMPLIFIED.chars().map(|c| (c, true)).collect();
        sets.extend(TRADITIONAL.chars().map(|c| (c, false)));
        sets.sort_unstable();
        sets.dedup();
        // A character that stands in both lists tells nothing.
        let both: Vec<char> = sets.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| pair[0].0).collect();
        sets.retain(|(c, _)| !both.contains(c));
        sets
    });
    &SCRIPTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_that_of_most_of_the_text() {
        for (text, language) in [
            ("員工應於三個工作日前提出申請。", Language::TraditionalChinese),
            ("劳动者应当在三个工作日前提出申请。", Language::SimplifiedChinese),
            ("自然人从事工商业经营，经依法登记，为个体工商户。", Language::SimplifiedChinese),
            ("Employees must apply three working days ahead.", Language::English),
            ("員工得以 VPN 連線至 remote desktop 系統辦理請假手續。", Language::TraditionalChinese),
            ("The handbook (員工手冊) applies to employees outside Taiwan.", Language::English),
            ("一二三", Language::TraditionalChinese),
            ("", Language::TraditionalChinese),
            ("123", Language::TraditionalChinese),
        ] {
            assert_eq!(of(text), language, "{text}");
        }
    }
}
