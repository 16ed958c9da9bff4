//! Telling a reply in Simplified characters from one in Traditional.

/// Characters that Traditional Chinese does not use. Characters that both scripts share (里, 后, 台, 只, 干, 面) are left
/// out, so a Traditional text is never accused.
const SIMPLIFIED_ONLY: &str = "们这国对时会个说为产发经过还进没样动学种应业务员规则请资条谁给让处办级岁续纳约红纪练组细终结绝统继线险际陈阳难页项顺须顾顿预领题额风飞饭馆马验鱼关开间问闻门长东车轻转较载输辆辞达运违远连选适邮乡兴农军决况净减几击划刘刚创别劳势单卖卫厂厅历压厌县参双变号叶听启员响团园围图圆圣场坏块坚垫垦处备复够头夹夺奋奖妇妈姐娱孙宁宝实审宪宫宽宾对寻导尔尝层属岛巩币帅师带帮广庆库庙开异张弹强归当录彻径忆忧怀态总恳恶悬惊惧惩愿懒戏户执扩扫扬护报担拟拥择挂挥损换据掷摄摆摇撑敌数断无旧显晓术机杀杂权条来杨极构标栏树样桥检楼欢欧毁毕气汇汉沟泪泽洁测济浏浓涛润涨渐满滥滨灭灯灵灾炉点炼烂热爱牵状独狭猎环现玛电畅疗疮监盖盘码确碍础礼祸离称税稳穷窃竞笔笼筑签简粮紧纠纯纲纵纷纸纺线绍绑绕绘络绩绪绿缓编缘缩网罗罚职联肃肤脑脚脱脸舰艺节药营虑虽蚀补装见观觉览触计订认讨训议讯记讲许论设访证评识诉诊词译试诗诚话诞询该详语误诱说读课调谈谋谢谨谱贝负财责败账货质贩贪购贯贵贷费贺资赋赌赏赔赖赚赛赞赠赢赵趋跃践踪辅辑边辽迁迟邓郑酱释鉴针钟钢钱铁铃银铜销锁错锋键镇镜闭闹阅队阵阶际陆随隐隶雾静韩顶顷颁颂频颗飘饮饰饱驱驶驻驾骂骗龄";

/// How many characters of `text` only Simplified Chinese uses.
pub(crate) fn simplified_only(text: &str) -> usize {
    text.chars().filter(|c| !c.is_ascii() && SIMPLIFIED_ONLY.contains(*c)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_simplified_text_is_accused() {
        assert!(simplified_only("事假一年合计不得超过十四日，工资不给") > 0);
        assert_eq!(simplified_only("事假一年合計不得超過十四日，不給工資。"), 0);
        assert_eq!(simplified_only("皇后在台北的里長面前干涉"), 0);
        assert_eq!(simplified_only("Two days."), 0);
    }
}
